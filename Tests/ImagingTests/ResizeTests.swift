import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct ResizeTests {
  @Test("sizes are exact in 200 generated cases: odd and single pixels, enlarging, extreme ratios")
  func sizes() throws {
    let fixture = try PassFixture()
    // Each line: the mode, what is wanted, the permission, the size that must come of the picture of the line's number.
    let printed = try PassFixture.python(
      """
      import random
      from fractions import Fraction as F
      random.seed(7)
      side = lambda: random.choice([1, 1, 2, 3, random.randint(1, 40), random.randint(41, 300)])
      def half_up(x): return max(int(x + F(1, 2)), 1)
      for case in range(200):
        w, h, W, H = side(), side(), side(), side()
        if case % 10 == 0: w, h = random.choice([(1, 2000), (2000, 1), (3, 1999)])
        if case % 10 == 1: W, H = random.choice([(1, 3000), (3000, 1), (2999, 2)])
        mode, enlarge = ['fit', 'fill', 'exact'][case % 3], case % 2 == 1
        if mode == 'exact':
          size = (W, H) if enlarge else (min(w, W), min(h, H))
        elif mode == 'fill':
          scale = max(F(W, w), F(H, h))
          size = (W, H) if enlarge or scale < 1 else (min(w, W), min(h, H))
        else:
          scale = min(F(W, w), F(H, h))
          if not enlarge: scale = min(scale, 1)
          size = (half_up(w * scale), half_up(h * scale))
        Image.new(['L', 'RGB', 'RGBA'][case % 3], (w, h)).save(f'{sys.argv[1]}/{case}.png')
        print(mode, W, H, 'enlarge' if enlarge else '', '=', *size)
      """, [fixture.folder.path])
    let cases = printed.split(separator: "\n")
    try #require(cases.count == 200)
    for (index, text) in cases.enumerated() {
      let parts = text.split(separator: "=")
      let result = try fixture.pass(
        fixture.folder.file("\(index).png"), to: fixture.folder.file("out.png"), recipe: "resize(\(parts[0]))")
      #expect("\(result.output.width) \(result.output.height)" == parts[1].dropFirst(), "\(result.source): \(text)")
    }
  }

  @Test(
    "a side that is - follows from the other",
    arguments: [
      ("800 -", 1600, 1200, 800, 600), ("- 600", 1600, 1200, 800, 600), ("fit 800 -", 600, 4000, 600, 4000),
      ("- 100 enlarge", 50, 30, 167, 100), ("fit 100 - enlarge", 50, 30, 100, 60), ("10 -", 1000, 1, 10, 1),
    ])
  func singleSide(_ arguments: String, _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int) throws {
    let resize = try #require(try Recipe(parsing: "resize(\(arguments))").filters.first as? Resize)
    let size = resize.size(after: PictureSize(width: width, height: height))
    #expect(size.width == newWidth && size.height == newHeight)
  }

  /// Recipes, and the same with Pillow.
  static let recipes = [
    ("resize(fit 100 100)", "a.resize((100, round(100 * h / w)), L)"),
    ("resize(exact 31 103)", "a.resize((31, 103), L)"),
    ("resize(exact 400 333 enlarge)", "a.resize((400, 333), L)"),
    ("resize(exact 17 250 enlarge)", "a.resize((17, 250), L)"),
    ("resize(exact 500 11 enlarge)", "a.resize((500, 11), L)"),
    ("resize(fill 64 64)", "a.resize((64, 64), L, ((w - h) / 2, 0, (w + h) / 2, h))"),
    ("resize(fill 100 300 enlarge)", "a.resize((100, 300), L, ((w - h / 3) / 2, 0, (w + h / 3) / 2, h))"),
    ("resize(fill 300 100)", "a.crop((0, 25, w, 125))"),
    ("resize(cover 64 64 left)", "a.resize((64, 64), L, (0, 0, h, h))"),
    ("resize(fill 64 64 right)", "a.resize((64, 64), L, (w - h, 0, w, h))"),
    ("resize(fill 100 20 top)", "a.resize((100, 20), L, (0, 0, w, w / 5))"),
    ("resize(cover 100 20 bottom enlarge)", "a.resize((100, 20), L, (0, h - w / 5, w, h))"),
    ("resize(fill 300 100 top)", "a.crop((0, 0, w, 100))"),
  ]

  /// Pillow rounds and clips to 8 bits between the two directions; alpha that overshoots is clipped with its colours.
  @Test("opaque results stay 55 dB from Pillow's Lanczos, translucent ones with jumps in alpha 43", arguments: recipes)
  func pillow(_ recipe: String, _ reference: String) throws {
    let fixture = try PassFixture()
    let modes = ["L", "LA", "RGB", "RGBA"]
    _ = try PassFixture.python(
      """
      a = Image.open(sys.argv[2])
      alpha = Image.fromarray((np.add.outer(np.arange(150) * 5, np.arange(226) * 3) % 256).astype('u1'))
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
      L = Image.LANCZOS
      def shown(picture):
        rgba = np.asarray(picture.convert('RGBA')).astype(float)
        return np.dstack([rgba[..., :3] * rgba[..., 3:] / 255, rgba[..., 3]])
      for mode in \(modes):
        a, b = (Image.open(f'{sys.argv[1]}/{mode}{end}.png') for end in ('', '-out'))
        w, h = a.size
        a = \(reference)
        assert (a.size, a.mode) == (b.size, b.mode), (a, b)
        print(psnr(shown(a), shown(b)))
      """, [fixture.folder.path])
    let distances = printed.split(separator: "\n").compactMap { Double($0) }
    try #require(distances.count == 4)
    for (mode, distance) in zip(modes, distances) { #expect(distance >= (mode.hasSuffix("A") ? 43 : 55), "\(mode)") }
  }

  @Test("transparent pixels do not affect colours, and a uniform picture stays uniform up to its edges")
  func edges() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        pixels = np.zeros((40, 60, 4), 'u1')
        pixels[:, :30] = (200, 10, 30, 255)
        pixels[:, 30:] = (0, 255, 0, 0)
        Image.fromarray(pixels).save(sys.argv[1], 'PNG')
        """,
      recipe: "resize(exact 17 13)",
      check: """
        b = np.asarray(Image.open(sys.argv[2])).astype(int)
        shown = b[..., 3] > 8
        flat = (200, 10, 30, 255)
        print(np.abs(b[shown] - flat)[:, :3].max() <= 3, (b[:, :5] == flat).all(), (b[:, -5:, 3] == 0).all())
        """)
    #expect(printed == "True True True")
  }

  @Test("16 bits stay 16 bits: a ramp keeps its precision")
  func deep() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        samples = (np.arange(512)[None, :, None] * 16 + 20000).repeat(8, 0)
        open(sys.argv[1], 'wb').write(png(samples, 16, 0))
        """,
      recipe: "resize(exact 256 8)",
      check: """
        b, depth, kind = read_png(open(sys.argv[2], 'rb').read())
        expected = np.arange(256) * 32 + 20008
        print(depth, np.abs(b[:, 4:-4, 0] - expected[4:-4]).max() <= 1)
        """)
    #expect(printed == "16 True")
  }

  @Test("a result beyond max-pixels is refused before pixels are read or written")
  func limit() throws {
    let fixture = try PassFixture()
    let bytes = try PassFixture.bytes(PassFixture.sample("chelsea-small.png"))
    let limits = ImageLimits(maxPixels: 1_000_000)
    #expect(try fixture.code(of: bytes, recipe: "resize(exact 1000 1000 enlarge)", limits: limits) == nil)
    let error = try fixture.error(of: bytes, recipe: "resize(exact 1001 1000 enlarge) resize(fit 5 5)", limits: limits)
    #expect(error?.code == .imageTooLarge)
    #expect(
      error?.message
        == "--max-pixels is 1 megapixel; the recipe gives the picture more: 1001 × 1000, which is 1 megapixel")
  }

  @Test("only a few rows of a high and narrow picture are held")
  func rows() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (7, 20000)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    let limits = ImageLimits(memory: WholePictureMemory(limit: 200_000))
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    for recipe in ["resize(exact 300 1 enlarge)", "resize(exact 300 3 enlarge)", "resize(exact 1 20000)"] {
      #expect(try fixture.code(of: bytes, recipe: recipe, limits: limits) == nil, "\(recipe)")
    }
  }
}
