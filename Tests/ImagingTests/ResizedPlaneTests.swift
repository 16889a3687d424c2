import Foundation
import TestSupport
import Testing

@testable import Imaging

/// JPEGs that are resized as stored planes, compared with rows of RGB.
@Suite struct ResizedPlaneTests {
  /// Arguments of `cjpeg`.
  static let kinds = [
    "-sample 1x1", "-sample 2x1", "-sample 2x2", "-sample 1x2", "-sample 2x2 -progressive", "-sample 2x1,2x1,2x1",
    "-sample 4x1", "-sample 2x2,2x1,1x1", "-rgb", "-grayscale",
  ]

  /// Sizes for 449 × 297 pixels: odd and even, decoded in full and at each fraction, one side alone, a middle.
  static let recipes = [
    "fit 400 400", "fit 301 301", "fit 170 170", "fit 61 61", "fit 33 33", "fit 16 16", "exact 449 140",
    "exact 200 297", "exact 123 45", "fill 90 90", "fill 111 57",
  ]

  @Test(
    "planes come as near to Pillow's Lanczos as RGB does, at any sampling, decoded size and quality",
    arguments: kinds, [85, 95])
  func kind(_ kind: String, _ quality: Int) throws {
    let photograph = "picture = Image.open('\(PassFixture.sample("chelsea.jpg"))').crop((0, 0, 449, 297))"
    try compare(photograph, kind, quality)
  }

  @Test("edges between pure colours, where resampling overshoots values that are clamped in RGB, lose 3 dB at most")
  func jumps() throws {
    let drawing = """
      colours = np.random.default_rng(3).choice([0, 255], (30, 45, 3)).astype('u1')
      picture = Image.fromarray(colours).resize((449, 297), Image.NEAREST)
      """
    for kind in ["-sample 1x1", "-sample 2x2"] { try compare(drawing, kind, 95, tolerance: 3) }
  }

  private func compare(_ picture: String, _ kind: String, _ quality: Int, tolerance: Double = 0.1) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      import subprocess
      \(picture)
      stored = io.BytesIO()
      picture.save(stored, 'PPM')
      command = ['cjpeg', '-quality', '95', *'\(kind)'.split(), '-outfile', sys.argv[1]]
      subprocess.run(command, input=stored.getvalue(), check=True)
      """, [fixture.folder.file("source")])
    let options = OutputOptions(quality: quality)
    var arguments = [fixture.folder.file("source")]
    for (number, recipe) in Self.recipes.enumerated() {
      let (planes, colours) = (fixture.folder.file("planes\(number)"), fixture.folder.file("colours\(number)"))
      try fixture.pass(fixture.folder.file("source"), to: planes, recipe: "resize(\(recipe))", options: options)
      // Another function, which does nothing here: this road takes one alone.
      try fixture.pass(
        fixture.folder.file("source"), to: colours, recipe: "resize(\(recipe)) crop(999 999)", options: options)
      arguments += [recipe, planes, colours]
    }
    let printed = try PassFixture.python(
      """
      from PIL import JpegImagePlugin as J
      source = Image.open(sys.argv[1])
      for at in range(2, len(sys.argv), 3):
        planes, colours = (Image.open(p) for p in sys.argv[at + 1:at + 3])
        (w, h), (W, H) = source.size, planes.size
        assert (planes.mode, planes.size) == (colours.mode, colours.size)
        assert planes.mode == 'L' or J.get_sampling(planes) == J.get_sampling(colours)
        scale = min(w / W, h / H) if 'fill' in sys.argv[at] else 0
        box = ((w - W * scale) / 2, (h - H * scale) / 2, (w + W * scale) / 2, (h + H * scale) / 2) if scale else None
        exact = source.resize((W, H), Image.LANCZOS, box).convert('RGB')
        print(*(psnr(picture.convert('RGB'), exact) for picture in (planes, colours)))
      """, arguments)
    let lines = printed.split(separator: "\n")
    try #require(lines.count == Self.recipes.count)
    for (recipe, line) in zip(Self.recipes, lines) {
      let distances = line.split(separator: " ").compactMap { Double($0) }
      try #require(distances.count == 2)
      #expect(distances[0] >= distances[1] - tolerance, "\(recipe): \(distances)")
    }
  }

  @Test(arguments: ["4:4:4", "4:2:0"])
  func `the rows that are queued between planes count against the memory budget`(sampling: String) throws {
    let fixture = try PassFixture()
    let file = fixture.folder.file("wide")
    let script = "Image.new('RGB', (6000, 400)).save(sys.argv[1], 'JPEG', subsampling='\(sampling)')"
    _ = try PassFixture.python(script, [file])
    let (source, result) = (open(file, O_RDONLY), open(fixture.folder.file("result"), O_RDWR | O_CREAT, 0o600))
    defer {
      close(source)
      close(result)
    }
    func demand(_ recipe: String) throws -> Int {
      var bytes = 0
      _ = try ImagePass(recipe: Recipe(parsing: recipe)).run(from: source, to: result) { demand throws(ImagingError) in
        bytes = demand.heldBytes
      }
      return bytes
    }
    // Luma alone holds the rows of a band, four for one, while chroma is read.
    let queued = try demand("resize(fit 1500 100)") - demand("resize(fit 1500 100) crop(999 999)")
    #expect((6000 * 64...6000 * 3 * 256).contains(queued), "\(queued)")
  }

  @Test("damage is detected when planes are read, and a pass over planes can be cancelled")
  func damage() throws {
    let fixture = try PassFixture()
    let whole = try PassFixture.bytes(PassFixture.sample("chelsea.jpg"))
    for recipe in ["resize(fit 300 300)", "resize(fit 120 120)", "resize(exact 120 1)"] {
      #expect(try fixture.code(of: whole, recipe: recipe) == nil)
      #expect(try fixture.code(of: whole.dropLast(500), recipe: recipe) == .imageTruncated)
    }
    var questions = 0
    let error = #expect(throws: ImagingError.self) {
      try fixture.pass(PassFixture.sample("chelsea.jpg"), to: fixture.folder.file("out"), recipe: "resize(fit 300 300)")
      {
        questions += 1
        return questions == 5
      }
    }
    #expect(error?.code == .cancelled && questions == 5)
  }
}
