import Foundation
import TestSupport
import Testing

@testable import Imaging

/// JPEGs that are resized as stored planes, beside the same over rows of colours.
@Suite struct ResizedPlaneTests {
  /// Arguments of `cjpeg`.
  static let kinds = [
    "-sample 1x1", "-sample 2x1", "-sample 2x2", "-sample 1x2", "-sample 2x2 -progressive", "-sample 2x1,2x1,2x1",
    "-sample 4x1", "-sample 2x2,2x1,1x1", "-rgb", "-grayscale",
  ]

  /// What is wanted of 449 × 297 pixels: odd and even results, read whole and at each part, one side alone, a middle.
  static let recipes = [
    "fit 400 400", "fit 301 301", "fit 170 170", "fit 61 61", "fit 33 33", "fit 16 16", "exact 449 140",
    "exact 200 297", "exact 123 45", "fill 90 90", "fill 111 57",
  ]

  @Test(
    "planes come as near to Pillow's Lanczos as colours do, at any sampling, part of the size and quality",
    arguments: kinds, [85, 95])
  func kind(_ kind: String, _ quality: Int) throws {
    let photograph = "picture = Image.open('\(Rig.sample("chelsea.jpg"))').crop((0, 0, 449, 297))"
    try compare(photograph, kind, quality)
  }

  @Test("jumps between pure colours, where resampling overshoots what is limited in RGB, lose 3 dB at most")
  func jumps() throws {
    let drawing = """
      colours = np.random.default_rng(3).choice([0, 255], (30, 45, 3)).astype('u1')
      picture = Image.fromarray(colours).resize((449, 297), Image.NEAREST)
      """
    for kind in ["-sample 1x1", "-sample 2x2"] { try compare(drawing, kind, 95, tolerance: 3) }
  }

  private func compare(_ picture: String, _ kind: String, _ quality: Int, tolerance: Double = 0.1) throws {
    let rig = try Rig()
    _ = try Rig.python(
      """
      import subprocess
      \(picture)
      stored = io.BytesIO()
      picture.save(stored, 'PPM')
      command = ['cjpeg', '-quality', '95', *'\(kind)'.split(), '-outfile', sys.argv[1]]
      subprocess.run(command, input=stored.getvalue(), check=True)
      """, [rig.folder.file("source")])
    let options = OutputOptions(quality: quality)
    for recipe in Self.recipes {
      let (planes, colours) = (rig.folder.file("planes"), rig.folder.file("colours"))
      try rig.pass(rig.folder.file("source"), to: planes, recipe: "resize(\(recipe))", options: options)
      // Another function, which does nothing here: this road takes one alone.
      try rig.pass(
        rig.folder.file("source"), to: colours, recipe: "resize(\(recipe)) crop(999 999)", options: options)
      let printed = try Rig.python(
        """
        from PIL import JpegImagePlugin as J
        source, planes, colours = (Image.open(p) for p in sys.argv[1:4])
        (w, h), (W, H) = source.size, planes.size
        assert (planes.mode, planes.size) == (colours.mode, colours.size)
        assert planes.mode == 'L' or J.get_sampling(planes) == J.get_sampling(colours)
        scale = min(w / W, h / H) if 'fill' in '\(recipe)' else 0
        box = ((w - W * scale) / 2, (h - H * scale) / 2, (w + W * scale) / 2, (h + H * scale) / 2) if scale else None
        exact = source.resize((W, H), Image.LANCZOS, box).convert('RGB')
        print(*(psnr(picture.convert('RGB'), exact) for picture in (planes, colours)))
        """, [rig.folder.file("source"), planes, colours])
      let distances = printed.split(separator: " ").compactMap { Double($0) }
      try #require(distances.count == 2)
      #expect(distances[0] >= distances[1] - tolerance, "\(recipe): \(distances)")
    }
  }

  @Test("damage is noticed where only planes are read, a cancelled pass ends")
  func damage() throws {
    let rig = try Rig()
    let whole = try Rig.bytes(Rig.sample("chelsea.jpg"))
    for recipe in ["resize(fit 300 300)", "resize(fit 120 120)", "resize(exact 120 1)"] {
      #expect(try rig.code(of: whole, recipe: recipe) == nil)
      #expect(try rig.code(of: whole.dropLast(500), recipe: recipe) == .imageTruncated)
    }
    var questions = 0
    let error = #expect(throws: ImagingError.self) {
      try rig.pass(Rig.sample("chelsea.jpg"), to: rig.folder.file("out"), recipe: "resize(fit 300 300)") {
        questions += 1
        return questions == 5
      }
    }
    #expect(error?.code == .cancelled && questions == 5)
  }
}
