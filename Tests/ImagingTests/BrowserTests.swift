import Foundation
import TestSupport
import Testing

@testable import Imaging

/// Every colour function against what Chromium made of the same pictures; `Goldens/render.py` renders them again.
@Suite struct BrowserTests {
  private static let folder = packageRoot + "/Tests/ImagingTests/Goldens/"

  static let recipes =
    ((try? String(contentsOfFile: folder + "recipes.txt", encoding: .utf8)) ?? "").split(separator: "\n").map(
      String.init)

  @Test("there are recipes for every function of CSS")
  func complete() {
    let ours = ["resize", "crop", "pad", "rotate", "flip", "flop", "sharpen", "background"]
    for filter in FilterRegistry.all where !ours.contains(filter.name) {
      #expect(Self.recipes.contains { $0.contains(filter.name + "(") })
    }
  }

  @Test("opaque pictures are within 1 per sample of the browser's, translucent ones within 2 of what it composites")
  func browser() throws {
    let fixture = try PassFixture()
    for (index, recipe) in Self.recipes.enumerated() {
      for kind in ["opaque", "translucent"] {
        try fixture.pass(Self.folder + kind + ".png", to: fixture.folder.file("\(kind)\(index).png"), recipe: recipe)
      }
    }
    let printed = try PassFixture.python(
      """
      goldens, results = sys.argv[1:3]
      side = Image.open(goldens + 'opaque.png').size[1]
      def worst(kind, ground, index):
        rgba = np.asarray(Image.open(f'{results}/{kind}{index}.png').convert('RGBA')).astype(float) / 255
        ours = rounded(rgba[..., :3] * rgba[..., 3:] + (1 - rgba[..., 3:]) * (ground == 'white'))
        name = kind if kind == 'opaque' else f'{kind}-on-{ground}'
        theirs = np.asarray(Image.open(f'{goldens}{name}-rendered.png')).astype(float)[index * side:(index + 1) * side]
        return int(np.abs(ours - theirs).max())
      for index in range(\(Self.recipes.count)):
        print(worst('opaque', 'black', index), worst('translucent', 'black', index), worst('translucent', 'white', index))
      """, [Self.folder, fixture.folder.path])
    let lines = printed.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
    try #require(lines.count == Self.recipes.count)
    for (recipe, differences) in zip(Self.recipes, lines) {
      // The browser multiplies by alpha in 8 bits before it filters; a threefold saturation shows that rounding.
      let bound = recipe == "saturate(3)" ? 3 : 2
      #expect(differences[0] <= 1, "\(recipe)")
      #expect(max(differences[1], differences[2]) <= bound, "\(recipe)")
    }
  }
}
