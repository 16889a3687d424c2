import Foundation
import Testing

@testable import Imaging

/// `pad` and `background`, and what `resize` keeps when it crops.
@Suite struct CanvasTests {
  /// Recipes, and the same in Pillow: `a` is the picture in RGBA, `w` and `h` its sides.
  static let recipes = [
    ("pad(50 40)", "on('#0000', 50, 40, (50 - w) // 2, (40 - h) // 2)"),
    ("pad(50 40 top #f80)", "on('#f80', 50, 40, (50 - w) // 2, 0)"),
    ("pad(50 40 left gray)", "on('gray', 50, 40, 0, (40 - h) // 2)"),
    ("pad(50 1 right #12345678)", "on('#12345678', 50, h, 50 - w, 0)"),
    ("pad(1 40 bottom)", "on('#0000', w, 40, 0, 40 - h)"), ("pad(1 1 red)", "a"),
    ("background(#f80)", "Image.alpha_composite(solid('#f80', w, h), a)"),
    ("background(#12345678)", "Image.alpha_composite(solid('#12345678', w, h), a)"),
    (
      "pad(50 40) background(white)",
      "Image.alpha_composite(solid('#fff', 50, 40), on('#0000', 50, 40, (50 - w) // 2, (40 - h) // 2))"
    ),
    (
      "flop() background(gray) pad(50 40 black)",
      "(lambda b: (c := solid('#000', 50, 40), c.paste(b, ((50 - w) // 2, (40 - h) // 2)), c)[2])("
        + "Image.alpha_composite(solid('gray', w, h), a.transpose(0)))"
    ),
  ]

  @Test("a canvas and a background are Pillow's, whatever the channels", arguments: recipes)
  func pillow(_ recipe: String, _ reference: String) throws {
    let fixture = try PassFixture()
    let modes = ["L", "LA", "RGB", "RGBA"]
    _ = try PassFixture.python(
      """
      a = Image.open(sys.argv[2]).resize((37, 21))
      alpha = Image.fromarray((np.add.outer(np.arange(21) * 12, np.arange(37) * 7) % 256).astype('u1'))
      for mode in \(modes):
        picture = a.convert(mode)
        if mode.endswith('A'): picture.putalpha(alpha)
        picture.save(f'{sys.argv[1]}/{mode}.png')
      """, [fixture.folder.path, PassFixture.sample("chelsea-small.png")])
    for mode in modes {
      try fixture.pass(fixture.folder.file(mode + ".png"), to: fixture.folder.file(mode + "-out.png"), recipe: recipe)
    }
    let printed = try PassFixture.python(
      """
      def solid(colour, width, height): return Image.new('RGBA', (width, height), colour)
      def on(colour, width, height, x, y):
        canvas = solid(colour, width, height)
        canvas.paste(a, (x, y))
        return canvas
      def shown(picture):
        rgba = np.asarray(picture.convert('RGBA')).astype(float)
        return np.dstack([rgba[..., :3] * rgba[..., 3:] / 255, rgba[..., 3]])
      for mode in \(modes):
        a, b = (Image.open(f'{sys.argv[1]}/{mode}{end}.png') for end in ('', '-out'))
        a = a.convert('RGBA')
        w, h = a.size
        expected = \(reference)
        assert expected.size == b.size, (expected.size, b.size)
        opaque = expected.getextrema()[3][0] == 255 and not (mode.endswith('A') and a.getextrema()[3][0] == 255)
        print(np.abs(shown(expected) - shown(b)).max() <= 1.01 and (not opaque or 'A' not in b.mode or mode.endswith('A')), b.mode)
      """, [fixture.folder.path])
    let lines = printed.split(separator: "\n")
    #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("True") }, "\(printed)")
    if recipe.contains("background") && !recipe.contains("#12345678") {
      #expect(lines.allSatisfy { !$0.hasSuffix("A") }, "what is opaque has no alpha: \(printed)")
    }
  }

  @Test("padding is transparent, and white as a JPEG")
  func jpeg() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: "Image.new('RGB', (16, 16), 'red').save(sys.argv[1], 'JPEG')", recipe: "pad(48 16 left)",
      check: """
        b = Image.open(sys.argv[2])
        print(b.format, b.mode, b.size, min(b.getpixel((40, 8))) > 250, b.getpixel((4, 8))[1] < 8)
        """)
    #expect(printed == "JPEG RGB (48, 16) True True")
  }

  @Test("a canvas is not held, and is limited as any result")
  func limits() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (30, 20)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    let limits = ImageLimits(memory: WholePictureMemory(limit: 1000))
    #expect(try fixture.code(of: bytes, recipe: "pad(3000 3000 red)", limits: limits) == nil)
    #expect(try fixture.code(of: bytes, recipe: "pad(1000000 1000000)") == .imageTooLarge)
  }
}
