import Foundation
import Testing

@testable import Imaging

@Suite struct ColourFunctionTests {
  static let recipes = [
    "grayscale(1)", "grayscale(0.3)", "sepia(1)", "sepia(0.8)", "sepia(0)", "saturate(0)", "saturate(0.4)",
    "saturate(3)",
    "hue-rotate(90deg)", "hue-rotate(-30deg)", "hue-rotate(777deg)", "invert(1)", "invert(0.25)", "brightness(0)",
    "brightness(0.5)", "brightness(1.7)", "brightness(1000000)", "contrast(0)", "contrast(0.6)", "contrast(2.5)",
    "sepia(0.8) contrast(1.2) hue-rotate(45deg)", "brightness(2) brightness(0.5)",
  ]

  @Test("every function is within 1 of the CSS formula on opaque pictures", arguments: recipes)
  func exact(_ recipe: String) throws {
    let fixture = try PassFixture()
    let source = PassFixture.sample("chelsea-small.png")
    try fixture.pass(source, to: fixture.folder.file("out.png"), recipe: recipe)
    let difference = try PassFixture.python(
      """
      source, result = (np.asarray(Image.open(p)).astype(float) for p in sys.argv[1:3])
      assert source.shape == result.shape, (source.shape, result.shape)
      print(int(np.abs(rounded(css(sys.argv[3], source / 255)) - result).max()))
      """, [source, fixture.folder.file("out.png"), recipe])
    #expect(difference == "0" || difference == "1")
  }

  @Test(
    "alpha does not change and colour is not multiplied by it",
    arguments: ["sepia(0.8)", "invert(1)", "hue-rotate(60deg)"])
  func translucent(_ recipe: String) throws {
    let fixture = try PassFixture()
    let difference = try fixture.compare(
      make: """
        rng = np.random.default_rng(1)
        source = rng.integers(0, 256, (37, 53, 4)).astype('u1')
        Image.fromarray(source, 'RGBA').save(sys.argv[1])
        """,
      recipe: recipe,
      check: """
        source, result = (np.asarray(Image.open(p)).astype(float) for p in sys.argv[1:3])
        assert (source[..., 3] == result[..., 3]).all()
        print(int(np.abs(rounded(css(sys.argv[3], source[..., :3] / 255)) - result[..., :3]).max()))
        """)
    #expect(difference == "0" || difference == "1")
  }

  @Test("opacity multiplies alpha, and adds it to opaque pictures", arguments: ["RGB", "RGBA", "L", "LA"])
  func opacity(_ mode: String) throws {
    let fixture = try PassFixture()
    let difference = try fixture.compare(
      make: """
        rng = np.random.default_rng(2)
        bands = len('\(mode)')
        source = rng.integers(0, 256, (20, 21, bands)).astype('u1')
        Image.fromarray(source if bands > 1 else source[..., 0], '\(mode)').save(sys.argv[1])
        """,
      recipe: "opacity(0.6)",
      check: """
        before, after = (Image.open(p) for p in sys.argv[1:3])
        assert after.mode == ('LA' if '\(mode)'.startswith('L') else 'RGBA'), after.mode
        before, after = (np.asarray(i.convert('RGBA')).astype(float) for i in (before, after))
        assert (before[..., :3] == after[..., :3]).all()
        print(int(np.abs(rounded(before[..., 3] / 255 * .6) - after[..., 3]).max()))
        """)
    #expect(difference == "0" || difference == "1")
  }

  @Test(
    "grey pictures stay grey unless a filter colours them",
    arguments: [
      ("brightness(0.5)", "L"), ("saturate(2) hue-rotate(40deg) grayscale(1)", "L"), ("contrast(2)", "L"),
      ("invert(1)", "L"), ("sepia(1)", "RGB"),
    ])
  func grey(_ recipe: String, _ mode: String) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: "Image.open('\(PassFixture.sample("chelsea-small.png"))').convert('L').save(sys.argv[1])",
      recipe: recipe,
      check: """
        before, after = (Image.open(p) for p in sys.argv[1:3])
        colours = [np.asarray(i.convert('RGB')).astype(float) for i in (before, after)]
        print(after.mode, bool(np.abs(rounded(css(sys.argv[3], colours[0] / 255)) - colours[1]).max() <= 1))
        """)
    #expect(printed == "\(mode) True")
  }

  @Test("16 bits stay 16 bits and are filtered in 16 bits", arguments: [0, 2, 4, 6])
  func deep(_ kind: Int) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        samples = np.random.default_rng(3).integers(0, 65536, (19, 23, CHANNELS[\(kind)]))
        open(sys.argv[1], 'wb').write(png(samples, 16, \(kind)))
        """,
      recipe: "contrast(0.7)",
      check: """
        before, after = (read_png(open(p, 'rb').read()) for p in sys.argv[1:3])
        assert before[1:] == after[1:]
        colours = 3 if \(kind) & 2 else 1
        expected = before[0].astype(float)
        expected[..., :colours] = (expected[..., :colours] / 65535 - .5) * .7 * 65535 + .5 * 65535
        print(bool(np.abs(expected - after[0]).max() <= 1))
        """)
    #expect(printed == "True")
  }
}

extension PassFixture {
  /// Makes a picture (`sys.argv[1]`) with one script, runs a pass into `sys.argv[2]`, and returns what a second script
  /// prints about both; `sys.argv[3]` is the recipe.
  func compare(
    make: String, recipe: String, options: OutputOptions = OutputOptions(), check: String
  ) throws -> String {
    let (source, result) = (folder.file("in.png"), folder.file("out.png"))
    _ = try Self.python(make, [source])
    try pass(source, to: result, recipe: recipe, options: options)
    return try Self.python(check, [source, result, recipe])
  }
}
