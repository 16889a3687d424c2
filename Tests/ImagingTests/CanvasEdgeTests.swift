import Testing

@testable import Imaging

/// `pad`, `crop` and `resize` where a side has one pixel, or the other has a thousand times as many.
@Suite struct CanvasEdgeTests {
  private static let recipes: [String] = {
    var recipes: [String] = []
    for anchor in ["center", "right"] {
      for size in ["1 1", "2 3", "1 1000", "1000 1", "6 5"] {
        recipes += ["pad(\(size) \(anchor))", "crop(\(size) \(anchor))"]
        recipes += ["resize(fill \(size) \(anchor))", "resize(fill \(size) \(anchor) enlarge)"]
      }
    }
    let sizes = ["1 1", "2 3", "1 1000", "1000 1", "300 200"]
    let resizes = sizes.map { "exact \($0)" } + (sizes + ["- 5", "7 -", "- 1", "1 -"]).map { "fit \($0)" }
    for words in resizes { recipes += ["resize(\(words))", "resize(\(words) enlarge)"] }
    return recipes
  }()

  @Test(
    "what is kept and how it is resampled is as computed with floating-point numbers",
    arguments: [(1, 1), (1, 997), (997, 1), (3, 7), (5000, 2)])
  func extremes(_ size: (width: Int, height: Int)) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      a = np.random.default_rng(3).integers(1, 256, (\(size.height), \(size.width), 4)).astype('u1')
      Image.fromarray(a).save(sys.argv[1] + '/in', 'PNG')
      """, [fixture.folder.path])
    for (index, recipe) in Self.recipes.enumerated() {
      try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("\(index)"), recipe: recipe)
    }
    let printed = try PassFixture.python(
      """
      a = np.asarray(Image.open(sys.argv[1] + '/in')).astype(float) / 255
      h, w = a.shape[:2]

      def origin(anchor, inner, outer):
          share = {'left': (0, .5), 'right': (1, .5), 'top': (.5, 0), 'bottom': (.5, 1)}.get(anchor, (.5, .5))
          return [(o - i) * s for o, i, s in zip(outer, inner, share)]

      def multiplied(p): return np.dstack([p[..., :3] * p[..., 3:], p[..., 3]])

      def resampled(size, box):
          # In floating point: Pillow rounds bytes between the two directions.
          planes = multiplied(a).astype('f4')
          p = np.dstack([np.asarray(Image.fromarray(planes[..., n]).resize(size, Image.LANCZOS, box)) for n in range(4)])
          # Overshoots are clamped after the division by alpha.
          alpha = np.maximum(p[..., 3:], 1e-6)
          return multiplied(np.dstack([np.clip(p[..., :3] / alpha, 0, 1), np.clip(p[..., 3], 0, 1)]))

      def rounded(p, q): return max((2 * p + q) // (2 * q), 1)

      def expected(name, words):
          enlarge = 'enlarge' in words
          mode = words.pop(0) if name == 'resize' else name
          W, H = (10 ** 6 if side == '-' else int(side) for side in words[:2])
          anchor = words[2] if len(words) > 2 else 'center'
          if mode == 'pad':
              size = max(w, W), max(h, H)
              x, y = map(int, origin(anchor, (w, h), size))
              canvas = np.zeros((size[1], size[0], 4))
              canvas[y:y + h, x:x + w] = a
              return multiplied(canvas)
          if mode == 'crop' or mode == 'fill' and not enlarge and (w <= W or h <= H):
              size = min(w, W), min(h, H)
              x, y = map(int, origin(anchor, size, (w, h)))
              return multiplied(a[y:y + size[1], x:x + size[0]])
          if mode == 'fill':
              scale = max(W / w, H / h)
              inner = min(W / scale, w), min(H / scale, h)
              x, y = origin(anchor, inner, (w, h))
              return resampled((W, H), (x, y, min(x + inner[0], w), min(y + inner[1], h)))
          if mode == 'exact':
              size = (W, H) if enlarge else (min(w, W), min(h, H))
          elif not enlarge and w <= W and h <= H:
              size = w, h
          else:
              size = (W, rounded(h * W, w)) if W * h <= H * w else (rounded(w * H, h), H)
          return multiplied(a) if size == (w, h) else resampled(size, (0, 0, w, h))

      for index, recipe in enumerate(sys.argv[2:]):
          name, words = recipe[:-1].split('(')
          b = np.asarray(Image.open(f'{sys.argv[1]}/{index}').convert('RGBA')).astype(float) / 255
          e = expected(name, words.split())
          assert e.shape == b.shape, (recipe, e.shape, b.shape)
          d = np.abs(e - multiplied(b)).max() * 255
          assert d <= 1.6, (recipe, d)
      print('same')
      """, [fixture.folder.path] + Self.recipes)
    #expect(printed == "same")
  }

  @Test(
    "a side that follows from the other is an error when it is too long, and does not limit the other",
    arguments: [(10_000, 1, "- 600"), (1, 10_000, "600 -")])
  func tooLong(_ width: Int, _ height: Int, _ words: String) throws {
    let fixture = try PassFixture()
    let path = fixture.folder.file("in")
    _ = try PassFixture.python("Image.new('L', (\(width), \(height))).save(sys.argv[1], 'PNG')", [path])
    let bytes = try PassFixture.bytes(path)
    #expect(try fixture.code(of: bytes, recipe: "resize(fit \(words) enlarge)") == .imageTooLarge)
    #expect(try fixture.code(of: bytes, recipe: "resize(fit \(words))") == nil)
  }
}
