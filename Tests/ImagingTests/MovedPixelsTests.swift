import Foundation
import Testing

@testable import Imaging

/// Functions that only move pixels.
@Suite struct MovedPixelsTests {
  /// Recipes, and the same in numpy.
  static let recipes = [
    ("rotate(90)", "np.rot90(a, -1)"), ("rotate(180)", "a[::-1, ::-1]"), ("rotate(270)", "np.rot90(a)"),
    ("flip()", "a[::-1]"), ("flop()", "a[:, ::-1]"), ("rotate(90) flop() rotate(270)", "a[::-1]"),
    ("flop() flop()", "a"), ("rotate(90) rotate(90) rotate(180)", "a"),
    ("crop(10 7)", "a[(h - min(h, 7)) // 2:, (w - min(w, 10)) // 2:][:7, :10]"),
    ("crop(10 7 top)", "a[:, (w - min(w, 10)) // 2:][:7, :10]"),
    ("crop(10 7 bottom)", "a[-7:, (w - min(w, 10)) // 2:][:, :10]"),
    ("crop(10 7 left)", "a[(h - min(h, 7)) // 2:][:7, :10]"),
    ("crop(10 7 right)", "a[(h - min(h, 7)) // 2:, -10:][:7]"), ("crop(1000000 1000000)", "a"),
    ("crop(1 1)", "a[(h - 1) // 2:, (w - 1) // 2:][:1, :1]"),
    ("crop(9 1000 left) rotate(90) crop(5 5 top)", "np.rot90(a[:, :9], -1)[:5, (h - min(h, 5)) // 2:][:, :5]"),
  ]

  @Test("pixels get the places that numpy gives them, and keep their values", arguments: recipes)
  func moved(_ recipe: String, _ slices: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      for kind, depth in [(0, 8), (4, 8), (2, 8), (6, 8), (0, 16), (6, 16)]:
        for width, height in [(37, 21), (1, 5), (16, 33)]:
          samples = np.random.default_rng(1).integers(0, 1 << depth, (height, width, CHANNELS[kind]))
          open(f'{sys.argv[1]}/{kind}-{depth}-{width}.in', 'wb').write(png(samples, depth, kind))
      """, [fixture.folder.path])
    let sources = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
    for source in sources {
      try fixture.pass(fixture.folder.file(source), to: fixture.folder.file(source + ".out"), recipe: recipe)
    }
    let printed = try PassFixture.python(
      """
      import glob
      for path in glob.glob(sys.argv[1] + '/*.in'):
        (a, depth, kind), b = (read_png(open(p, 'rb').read()) for p in (path, path + '.out'))
        h, w = a.shape[:2]
        expected = \(slices)
        print(b[1:] == (depth, kind) and expected.shape == b[0].shape and bool((expected == b[0]).all()))
      """, [fixture.folder.path])
    #expect(printed.split(separator: "\n") == Array(repeating: "True", count: 18), "\(printed)")
  }

  @Test("a rotation between filters does not round to 8 bits")
  func depth() throws {
    let fixture = try PassFixture()
    let source = PassFixture.sample("chelsea-small.png")
    try fixture.pass(
      source, to: fixture.folder.file("turned.png"), recipe: "brightness(0.1) rotate(180) brightness(10)")
    try fixture.pass(source, to: fixture.folder.file("plain.png"), recipe: "brightness(0.1) brightness(10)")
    let printed = try PassFixture.python(
      """
      a, b = (np.asarray(Image.open(p)).astype(int) for p in sys.argv[1:3])
      print(np.abs(a[::-1, ::-1] - b).max())
      """, [fixture.folder.file("turned.png"), fixture.folder.file("plain.png")])
    #expect(printed == "0")
  }

  @Test("EXIF's orientation is applied before the recipe, and the density is transposed with the picture")
  func exif() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        exif = Image.Exif(); exif[0x0112] = 6
        Image.open('\(PassFixture.sample("chelsea-small.png"))').save(sys.argv[1], 'PNG', exif=exif, dpi=(100, 50))
        """,
      recipe: "crop(100 30 top) rotate(90)",
      check: """
        from PIL import ImageOps
        a, b = (Image.open(p) for p in sys.argv[1:3])
        upright = np.asarray(ImageOps.exif_transpose(a).convert('RGB'))
        expected = np.rot90(upright[:30, 25:125], -1)
        print(bool((expected == np.asarray(b.convert('RGB'))).all()), [round(d) for d in b.info['dpi']])
        """)
    #expect(printed == "True [100, 50]")
  }

  @Test("rows below a crop are read, so that damage in them is an error")
  func damage() throws {
    let fixture = try PassFixture()
    for name in ["chelsea.jpg", "chelsea-small.png"] {
      let whole = try PassFixture.bytes(PassFixture.sample(name))
      #expect(try fixture.code(of: whole, recipe: "crop(8 1 top)") == nil)
      #expect(try fixture.code(of: whole.dropLast(200), recipe: "crop(8 1 top)") == .imageTruncated)
    }
  }

  @Test(
    "a rotated picture is held in the shared memory, a flipped or cropped one is not",
    arguments: [
      ("flop()", nil), ("crop(20 300)", nil), ("crop(20 300) rotate(90)", nil),
      ("flip()", ImagingError.Code.imageTooLarge), ("rotate(90)", .imageTooLarge), ("rotate(180)", .imageTooLarge),
    ])
  func budget(_ recipe: String, _ expected: ImagingError.Code?) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (300, 200)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    let limits = ImageLimits(memory: WholePictureMemory(limit: 100_000))
    #expect(
      try fixture.code(of: PassFixture.bytes(fixture.folder.file("in")), recipe: recipe, limits: limits) == expected)
    #expect(limits.memory.bytesInUse == 0)
  }

  @Test("a pass can be cancelled while a picture to be rotated is read")
  func cancelled() throws {
    let fixture = try PassFixture()
    var asked = 0
    let error = #expect(throws: ImagingError.self) {
      try fixture.pass(PassFixture.sample("chelsea-small.png"), to: fixture.folder.file("out"), recipe: "flip()") {
        asked += 1
        return asked > 5
      }
    }
    #expect(error?.code == .cancelled)
  }

  @Test("a row of its own that a stage holds counts against the memory budget")
  func heldRows() throws {
    let size = PictureSize(width: 100_000, height: 1)
    let layout = PixelLayout(isGrey: false, hasAlpha: true, is16Bit: true)
    // Four floats for each pixel.
    for (recipe, rows) in [
      ("brightness(2)", 0), ("flop()", 0), ("crop(90000 1)", 1), ("pad(100001 1)", 1),
      ("crop(100000 1) pad(100000 2) crop(100000 1) pad(1 1)", 4),
    ] {
      let pipeline = RowPipeline(recipe: try Recipe(parsing: recipe), source: layout, size: size, format: .png)
      #expect(pipeline.heldBytes == rows * 1_600_000, "\(recipe)")
    }
    // Another colour space is converted in a row as files have it.
    var metadata = Metadata()
    metadata.append(.pngColour(.gAMA, [0, 1, 0x86, 0xA0]))
    let pipeline = RowPipeline(
      recipe: try Recipe(parsing: "brightness(2)"), source: layout, size: size, metadata: metadata, format: .png)
    #expect((800_000..<801_000).contains(pipeline.heldBytes))
  }
}
