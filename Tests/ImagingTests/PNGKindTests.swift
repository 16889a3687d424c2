import Foundation
import Testing

@testable import Imaging

@Suite struct PNGKindTests {
  static let kinds =
    [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8)]
    + [(4, 8), (4, 16), (6, 8), (6, 16)]

  @Test func `of an animation the picture that is shown without it is used, and the frames are counted`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      frames = [Image.new('RGB', (9, 7), (80 * n, 0, 200)) for n in range(3)]
      frames[0].save(sys.argv[1], 'PNG', save_all=True, append_images=frames[1:])
      """, [fixture.folder.file("in")])
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), recipe: "invert(1)")
    #expect(result.source == ImageInfo(format: .png, width: 9, height: 7, frames: 3))
    #expect(result.output.frames == 1)
    let file = try ScratchFile()
    try file.write(try PassFixture.bytes(fixture.folder.file("in")))
    let copy = try file.copied(.none)
    #expect(copy.copy.info == result.source && copy.copy.isWholeFile)
    let printed = try PassFixture.python(
      "print(Image.open(sys.argv[1]).getpixel((3, 3)))", [fixture.folder.file("out")])
    #expect(printed == "(255, 255, 55)")
  }

  @Test("every colour type and depth is read, interlaced or not, transparent or not", arguments: kinds, [false, true])
  func kind(_ kind: (Int, Int), _ isInterlaced: Bool) throws {
    let fixture = try PassFixture()
    let (type, depth) = kind
    let sizes = [(1, 1), (1, 9), (7, 3), (8, 8), (13, 5), (33, 17), (3, 1)]
    _ = try PassFixture.python(
      """
      rng = np.random.default_rng(\(type * 100 + depth))
      for w, h in \(sizes):
          for transparent in ([False, True] if \(type) in (0, 2, 3) else [False]):
              top = 1 << \(depth)
              samples = rng.integers(0, top, (h, w, CHANNELS[\(type)]))
              before, scale = b'', 257 if \(depth) == 16 else 1
              if \(type) == 3:
                  palette = rng.integers(0, 256, (top, 3)).astype('u1')
                  before += chunk(b'PLTE', palette.tobytes())
                  alpha = np.full(top, 255)
                  if transparent:
                      alpha[:(top + 1) // 2] = rng.integers(0, 256, (top + 1) // 2)
                      before += chunk(b'tRNS', alpha[:(top + 1) // 2].astype('u1').tobytes())
                  expected = palette[samples[..., 0]].astype(int)
                  if transparent:
                      expected = np.concatenate([expected, alpha[samples]], -1)
              else:
                  grown = samples if \(depth) >= 8 else samples * (255 // (top - 1))
                  expected = grown
                  if transparent:
                      key = samples[h // 2, w // 2]
                      before += chunk(b'tRNS', key.astype('>u2').tobytes())
                      opaque = (samples != key).any(-1, keepdims=True) * (65535 if \(depth) == 16 else 255)
                      expected = np.concatenate([grown, opaque], -1)
              base = f'{sys.argv[1]}/{w}x{h}{"t" if transparent else ""}'
              open(base + '.png', 'wb').write(png(samples, \(depth), \(type), \(isInterlaced ? "True" : "False"), before))
              np.save(base + '.npy', expected)
      """, [fixture.folder.path])
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).filter { $0.hasSuffix(".png") }
    #expect(names.count == sizes.count * ([0, 2, 3].contains(type) ? 2 : 1))
    for name in names { try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out")) }
    let printed = try PassFixture.python(
      """
      import glob
      for source in sorted(glob.glob(sys.argv[1] + '/*.png')):
          expected = np.load(source[:-4] + '.npy')
          result, depth, kind = read_png(open(source + '.out', 'rb').read())
          assert depth == (16 if \(depth) == 16 else 8), depth
          assert result.shape == expected.shape, (source, result.shape, expected.shape)
          assert (result == expected).all(), source
          image, transparent = Image.open(source), 't' in source.split('/')[-1]
          # Pillow looks for a transparent grey of 2 or 4 bits among samples that it has scaled to 8 already.
          if depth == 8 and not (transparent and \(type) == 0 and \(depth) in (2, 4)):
              a, b = (np.asarray(i.convert('RGBA')) for i in (image, Image.open(source + '.out')))
              assert (a == b).all(), source
          elif image.mode == 'I;16':
              assert (np.asarray(image) == result[..., 0]).all(), source
      print('same')
      """, [fixture.folder.path])
    #expect(printed == "same")
  }

  @Test(
    "rows of few colours are written without filters, others with sub and up",
    arguments: [("P", "{0}"), ("1", "{0}"), ("L", "{1, 2}"), ("RGB", "{1, 2}")])
  func rowFilters(_ mode: String, _ filters: String) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: "Image.open('\(PassFixture.sample("chelsea-small.png"))').convert('\(mode)').save(sys.argv[1])",
      recipe: "sepia(0.8)", check: "print(row_filters(open(sys.argv[2], 'rb').read()))")
    #expect(printed == filters)
  }

  @Test("a JPEG becomes a PNG of Pillow's decoding")
  func fromJPEG() throws {
    let fixture = try PassFixture()
    try fixture.pass(
      PassFixture.sample("coffee.jpg"), to: fixture.folder.file("out"), options: OutputOptions(format: .png))
    let script = "print(psnr(Image.open(sys.argv[1]), Image.open(sys.argv[2])), Image.open(sys.argv[2]).format)"
    #expect(try PassFixture.python(script, [PassFixture.sample("coffee.jpg"), fixture.folder.file("out")]) == "99 PNG")
  }

  @Test(
    "an invalid number of frames is no error",
    arguments: [
      ("actl(0)", 1), ("actl(1)", 1), ("actl(3) + actl(7)", 3), ("actl(0xFFFFFFFF)", 0xFFFF_FFFF),
      ("chunk(b'acTL', bytes(3))", 1), ("chunk(b'acTL', b'')", 1), ("actl(2) + chunk(b'fcTL', b'x')", 2),
      ("actl(4)[:-1] + b'x'", 4), ("chunk(b'fdAT', b'x') + actl(5)", 5),
    ])
  func animationChunks(_ script: String, _ frames: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      def actl(frames): return chunk(b'acTL', struct.pack('>II', frames, 0))
      open(sys.argv[1], 'wb').write(png(np.full((7, 9, 3), 80), 8, 2, before=\(script), after=chunk(b'fdAT', b'garbage')))
      """, [fixture.folder.file("in")])
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), recipe: "invert(1)")
    #expect(result.source == ImageInfo(format: .png, width: 9, height: 7, frames: frames))
    let file = try ScratchFile()
    try file.write(try PassFixture.bytes(fixture.folder.file("in")))
    #expect(try file.copied(.none).copy.info == result.source)
    let printed = try PassFixture.python(
      "print(read_png(open(sys.argv[1], 'rb').read())[0].tolist() == np.full((7, 9, 3), 175).tolist())",
      [fixture.folder.file("out")])
    #expect(printed == "True")
  }
}
