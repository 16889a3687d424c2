import Foundation
import TestSupport
import Testing

@testable import Imaging

/// What `BrowserTests` does not cover of `blur()`, `drop-shadow()` and `sharpen()`.
@Suite struct BlurTests {
  @Test("a uniform picture stays uniform where no edge is near, after hundreds of rows", arguments: [1, 7.3, 50])
  func flat(_ deviation: Double) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: "open(sys.argv[1], 'wb').write(png(np.full((700, 340, 3), 40000), 16, 2))",
      recipe: "blur(\(deviation)px)",
      check: """
        b, depth, kind = read_png(open(sys.argv[2], 'rb').read())
        margin = 3 * math.ceil(\(deviation))
        inner = b[margin:-margin, margin:-margin]
        # Each pass rounds to 16 bits.
        print(depth, kind, np.ptp(inner[..., :3]), abs(inner[0, 0, 0] - 40000) <= 4, inner[..., 3].min() == 65535)
        print(bool((b == b[::-1, ::-1]).all()))
        """)
    #expect(printed == "16 6 0 True True\nTrue")
  }

  @Test("blurring adds alpha to opaque pictures, unless the deviation is too small to change anything")
  func alpha() throws {
    let fixture = try PassFixture()
    for (recipe, mode) in [("blur(2px)", "RGBA"), ("blur(0.5px)", "RGB"), ("drop-shadow(9px 9px 2px red)", "RGB")] {
      try fixture.pass(PassFixture.sample("chelsea-small.png"), to: fixture.folder.file("out.png"), recipe: recipe)
      #expect(try PassFixture.python("print(Image.open(sys.argv[1]).mode)", [fixture.folder.file("out.png")]) == mode)
    }
  }

  @Test("a grey picture stays grey with grey shadows, and becomes coloured with coloured ones")
  func grey() throws {
    let fixture = try PassFixture()
    for (recipe, mode) in [("drop-shadow(#888 2px 2px)", "LA"), ("drop-shadow(red 2px 2px)", "RGBA")] {
      let printed = try fixture.compare(
        make: "Image.new('LA', (20, 20), (90, 100)).save(sys.argv[1], 'PNG')", recipe: recipe,
        check: "print(Image.open(sys.argv[2]).mode)")
      #expect(printed == mode)
    }
  }

  @Test(
    "a shadow lies where it was moved, beneath the picture", arguments: [(4, 3), (-4, 3), (4, -30), (-25, -3), (70, 0)])
  func shadow(_ x: Int, _ y: Int) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        samples = np.random.default_rng(4).integers(0, 65536, (41, 60, 4))
        samples[..., 3] *= np.random.default_rng(5).integers(0, 2, (41, 60))
        open(sys.argv[1], 'wb').write(png(samples, 16, 6))
        """,
      recipe: "drop-shadow(rgb(255 128 0 / 0.6) \(x)px \(y)px)",
      check: """
        a, b = (read_png(open(p, 'rb').read())[0] / 65535 for p in sys.argv[1:3])
        moved = np.zeros((41, 60))
        for row in range(41):
          for column in range(60):
            if 0 <= row - \(y) < 41 and 0 <= column - \(x) < 60: moved[row, column] = a[row - \(y), column - \(x), 3]
        seen = moved * 153 / 255 * (1 - a[..., 3])
        alpha = a[..., 3] + seen
        mixed = a[..., :3] * a[..., 3:] + seen[..., None] * np.array([255, 128, 0]) / 255
        print(np.abs(alpha - b[..., 3]).max() < 3e-5, np.abs(mixed - b[..., :3] * b[..., 3:]).max() < 6e-5)
        """)
    #expect(printed == "True True")
  }

  @Test(
    "sharpening is within 1 of the formula, also at edges, and does not change alpha", arguments: [0.1, 0.7, 1, 4.5])
  func sharpened(_ sigma: Double) throws {
    let fixture = try PassFixture()
    for mode in ["L", "RGBA"] {
      let printed = try fixture.compare(
        make: """
          a = Image.open('\(PassFixture.sample("chelsea-small.png"))').crop((20, 20, 90, 75)).convert('\(mode)')
          alpha = np.add.outer(np.arange(55) * 4, np.arange(70)) % 230 + 20
          if a.mode == 'RGBA': a.putalpha(Image.fromarray(alpha.astype('u1')))
          a.save(sys.argv[1], 'PNG')
          """,
        recipe: "sharpen(\(sigma))",
        check: """
          a, b = (np.asarray(Image.open(p).convert('RGBA')).astype(float) / 255 for p in sys.argv[1:3])
          radius = math.ceil(3 * \(sigma))
          kernel = np.exp(-np.arange(-radius, radius + 1) ** 2 / (2 * \(sigma) ** 2))
          def horizontal(p):
            return np.apply_along_axis(lambda line: np.convolve(line, kernel, 'full')[radius:-radius], 0, p)
          def blur(p):
            return horizontal(horizontal(p).swapaxes(0, 1)).swapaxes(0, 1)
          blurred = blur(a[..., :3] * a[..., 3:]) / blur(a[..., 3:])
          expected = np.clip(2 * a[..., :3] - blurred, 0, 1)
          print(np.abs(rounded(expected) - rounded(b[..., :3])).max() <= 1, (a[..., 3] == b[..., 3]).all())
          """)
      #expect(printed == "True True", "\(mode)")
    }
  }

  @Test("windows of rows are counted against the shared memory, and released")
  func budget() throws {
    let fixture = try PassFixture()
    let bytes = try PassFixture.bytes(PassFixture.sample("chelsea-small.png"))
    let limits = ImageLimits(memory: WholePictureMemory(limit: 200_000))
    for (recipe, code) in [
      ("blur(2px)", nil), ("blur(20px)", ImagingError.Code.imageTooLarge), ("opacity(0.5) drop-shadow(1px 1px)", nil),
      ("opacity(0.5) drop-shadow(1px 120px)", .imageTooLarge), ("opacity(0.5) drop-shadow(1px 900px)", nil),
      ("sharpen(1)", nil),
    ] {
      #expect(try fixture.code(of: bytes, recipe: recipe, limits: limits) == code, "\(recipe)")
      #expect(limits.memory.bytesInUse == 0)
    }
  }
}
