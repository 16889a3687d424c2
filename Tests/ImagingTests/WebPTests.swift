import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct WebPTests {
  /// Noise and a gradient with any alpha, as Pillow's picture `p` of some size.
  private static func picture(_ size: String, alpha: Bool) -> String {
    """
    w, h = \(size)
    g = np.random.default_rng(w * h)
    p = g.integers(0, 256, (h, w, 4), 'u1')
    p[:, :, :3] = (p[:, :, :3] // 16 + np.linspace(0, 200, w)[None, :, None]).astype('u1')
    p = Image.fromarray(p, 'RGBA')
    if not \(alpha ? "True" : "False"): p = p.convert('RGB')

    """
  }

  @Test(
    "lossless is read and written identically, pixels under zero alpha included",
    arguments: ["(1, 1)", "(7, 3)", "(300, 200)", "(31, 257)"], [false, true])
  func lossless(_ size: String, _ alpha: Bool) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.picture(size, alpha: alpha) + "p.save(sys.argv[1], 'WEBP', lossless=True, exact=True)",
      [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("png"), options: OutputOptions(format: .png))
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("webp"))
    #expect(result.output.format == .webp)
    let printed = try PassFixture.python(
      """
      a, b, c = (Image.open(p) for p in sys.argv[1:4])
      print(a.mode == b.mode, a.mode == c.mode, a.size == b.size == c.size)
      print(*(np.array_equal(np.asarray(a.convert('RGBA')), np.asarray(x.convert('RGBA'))) for x in (b, c)))
      print(open(sys.argv[3], 'rb').read(16)[12:])
      """, ["in", "png", "webp"].map(fixture.folder.file))
    #expect(printed == "True True True\nTrue True\nb'VP8L'")
  }

  @Test(
    "lossy is read as Pillow does, alpha exactly", arguments: ["(1, 1)", "(300, 200)", "(33, 257)"], [false, true])
  func lossy(_ size: String, _ alpha: Bool) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.picture(size, alpha: alpha) + "p.save(sys.argv[1], 'WEBP', quality=80)", [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("png"), options: OutputOptions(format: .png))
    let printed = try PassFixture.python(
      """
      a, b = (np.asarray(Image.open(p).convert('RGBA')).astype(int) for p in sys.argv[1:3])
      print(np.abs(a - b).max() <= 2, np.array_equal(a[:, :, 3], b[:, :, 3]))
      """, ["in", "png"].map(fixture.folder.file))
    #expect(printed == "True True")
  }

  @Test("quality is applied, alpha is exact, and the pixels are those of the recipe", arguments: [false, true])
  func encoding(_ alpha: Bool) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      p = Image.open('\(PassFixture.sample("chelsea-small.png"))').convert('RGB')
      if \(alpha ? "True" : "False"):
          p.putalpha(Image.fromarray(np.random.default_rng(1).integers(1, 256, p.size[::-1], 'u1')))
      p.save(sys.argv[1], 'PNG')
      """, [fixture.folder.file("in")])
    for quality in [40, 95] {
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file("q\(quality)"), recipe: "sepia(0.8)",
        options: OutputOptions(format: .webp, quality: quality))
    }
    let printed = try PassFixture.python(
      """
      a, b, c = (Image.open(p) for p in sys.argv[1:4])
      wanted = Image.fromarray(rounded(css('sepia(0.8)', np.asarray(a.convert('RGB')) / 255.0)).astype('u1'))
      print(psnr(wanted, b.convert('RGB')) > 26, psnr(wanted, c.convert('RGB')) > 36)
      print(\(alpha ? "True" : "False") or len(open(sys.argv[2], "rb").read()) * 2 < len(open(sys.argv[3], "rb").read()))
      print(all(np.array_equal(*(np.asarray(x.convert('RGBA'))[:, :, 3] for x in (a, y))) for y in (b, c)))
      """, ["in", "q40", "q95"].map(fixture.folder.file))
    #expect(printed == "True True\nTrue\nTrue")
  }

  @Test("of an animation the first frame is used, on its canvas, and the frames are counted")
  func animation() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      frames = [Image.new('RGBA', (120, 80), (0, 0, 0, 0)) for _ in range(3)]
      for n, f in enumerate(frames): f.paste((200, 40 * n, 10, 255), (20 + 8 * n, 30, 60 + 8 * n, 50))
      frames[0].save(sys.argv[2], 'PNG')
      frames[0].save(sys.argv[1], 'WEBP', save_all=True, append_images=frames[1:], lossless=True, duration=100)
      """, ["in", "first"].map(fixture.folder.file))
    let result = try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: .png))
    #expect(result.source.frames == 3)
    #expect(result.output == ImageInfo(format: .png, width: 120, height: 80))
    let printed = try PassFixture.python(
      """
      a, b = (np.asarray(Image.open(p).convert('RGBA')) for p in sys.argv[1:3])
      print(np.array_equal(a[:, :, 3], b[:, :, 3]), np.array_equal(a[a[:, :, 3] > 0], b[a[:, :, 3] > 0]), a.any())
      """,
      ["first", "out"].map(fixture.folder.file))
    #expect(printed == "True True True")
  }

  @Test("a frame that does not fill the canvas is at its place, on a transparent canvas", arguments: ["VP8L", "VP8 "])
  func placed(_ kind: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      f = io.BytesIO(); Image.new('RGB', (10, 6), (255, 0, 0)).save(f, 'WEBP', lossless=\(kind == "VP8L" ? "True" : "False"))
      u = lambda n: struct.pack('<I', n)[:3]
      stream = f.getvalue()[12:]
      frame = u(4) + u(1) + u(9) + u(5) + u(100) + b'\\0' + stream
      body = b'VP8X' + struct.pack('<I', 10) + b'\\x12\\0\\0\\0' + u(29) + u(19)
      body += b'ANIM' + struct.pack('<I', 6) + b'\\0' * 6 + b'ANMF' + struct.pack('<I', len(frame)) + frame
      open(sys.argv[1], 'wb').write(b'RIFF' + struct.pack('<I', len(body) + 4) + b'WEBP' + body)
      """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: .png))
    let printed = try PassFixture.python(
      """
      a = np.asarray(Image.open(sys.argv[1])); b = a[2:8, 8:18]
      print(a.shape, (b[:, :, 0] > 250).all(), (b[:, :, 3] == 255).all(), a[:, :, 3].sum() == 60 * 255)
      """, [fixture.folder.file("out")])
    #expect(printed == "(20, 30, 4) True True True")
  }

  @Test(
    "frames after the first may be anything, and are counted; the first must be within the canvas",
    arguments: [
      ("chunks", ImagingError.Code?.none), ("[c for c in chunks if c[0] != b'ANIM']", nil),
      ("chunks[:3] + [(b'ANMF', b'x' * 40), (b'ANMF', b'')]", nil),
      ("chunks[:3] + [(b'ANMF', b'\\xff' * 6 + c[1][6:]) for c in chunks[3:]]", nil),
      ("chunks[:2] + [(b'ANMF', b'\\1\\0\\0' + chunks[2][1][3:])] + chunks[3:]", .imageCorrupt),
      ("chunks[:2] + [(b'ANMF', b'x' * 15)] + chunks[3:]", .imageCorrupt), ("chunks[:2]", .imageCorrupt),
    ])
  func frames(_ script: String, _ code: ImagingError.Code?) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      p, stored = Image.open(sys.argv[2]).resize((60, 40)), io.BytesIO()
      p.save(stored, 'WEBP', save_all=True, append_images=[p.rotate(90), p.rotate(180)], duration=50)
      data, at, chunks = stored.getvalue(), 12, []
      while at < len(data):
          size = int.from_bytes(data[at + 4:at + 8], 'little')
          chunks.append((data[at:at + 4], data[at + 8:at + 8 + size]))
          at += 8 + size + size % 2
      assert [name for name, _ in chunks] == [b'VP8X', b'ANIM', b'ANMF', b'ANMF', b'ANMF']
      body = b''.join(n + struct.pack('<I', len(d)) + d + b'\\0' * (len(d) % 2) for n, d in \(script))
      open(sys.argv[1], 'wb').write(b'RIFF' + struct.pack('<I', len(body) + 4) + b'WEBP' + body)
      """, [fixture.folder.file("in"), PassFixture.sample("chelsea.jpg")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    #expect(try fixture.code(of: bytes) == code)
    guard code == nil else { return }
    let result = try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: .png))
    #expect(result.source == ImageInfo(format: .webp, width: 60, height: 40, frames: 3))
    let printed = try PassFixture.python(
      """
      p = Image.open(sys.argv[2]).resize((60, 40))
      print(np.abs(np.asarray(Image.open(sys.argv[1]).convert('RGB')).astype(int) - np.asarray(p)).mean() < 6)
      """, [fixture.folder.file("out"), PassFixture.sample("chelsea.jpg")])
    #expect(printed == "True")
  }

  @Test(
    "metadata is read and written according to the policy, and EXIF's orientation applied",
    arguments: MetadataPolicy.allCases)
  func metadata(_ policy: MetadataPolicy) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      from PIL import ImageCms
      e = Image.Exif(); e[0x0112] = 6; e[0x8298] = 'Ann'; e[0x010F] = 'Maker'
      icc = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
      Image.new('RGB', (30, 20), (9, 99, 199)).save(sys.argv[1], 'WEBP', lossless=True, exif=e, icc_profile=icc, xmp=b'<x:xmpmeta/>')
      """, [fixture.folder.file("in")])
    try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: .webp, metadata: policy)
    )
    try fixture.pass(
      fixture.folder.file("out"), to: fixture.folder.file("again"), options: OutputOptions(metadata: policy))
    let printed = try PassFixture.python(
      """
      for path in sys.argv[1:3]:
          a = Image.open(path); e = a.getexif()
          print(a.size, e.get(0x0112, 1), e.get(0x8298), e.get(0x010F), 'xmp' in a.info, np.asarray(a)[3, 3].tolist())
      """, ["out", "again"].map(fixture.folder.file))
    let rights = policy == .none ? "None" : "Ann"
    let line = "(20, 30) 1 \(rights) \(policy == .all ? "Maker True" : "None False") [9, 99, 199]"
    #expect(printed == "\(line)\n\(line)")
  }

  @Test(
    "a truncated file is reported as such, a damaged one as corrupt or read", .timeLimit(.minutes(30)),
    arguments: ["True", "False"])
  func damage(_ lossless: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      picture = Image.open('\(PassFixture.sample("chelsea-small.png"))').crop((60, 20, 141, 77))
      picture.save(sys.argv[1], 'WEBP', lossless=\(lossless))
      """, [fixture.folder.file("whole")])
    let whole = try PassFixture.bytes(fixture.folder.file("whole"))
    for end in [12, 15, 20, 25, 30, whole.count - 1] + (1..<40).map({ $0 * whole.count / 40 }) {
      #expect(try fixture.code(of: whole.prefix(end)) == .imageTruncated, "\(end)")
      // The same with a head that fits.
      var lying = Array(whole.prefix(end))
      // The last byte may be padding.
      guard end >= 20, end < whole.count - 1 else { continue }
      lying.replaceSubrange(4..<8, with: [UInt8](littleEndian: end - 8, count: 4))
      #expect(try fixture.code(of: lying) == .imageCorrupt, "\(end)")
      lying.replaceSubrange(16..<20, with: [UInt8](littleEndian: end - 20, count: 4))
      #expect(try fixture.code(of: lying) == .imageCorrupt, "\(end)")
    }
    for step in 0..<300 {
      var changed = whole
      changed[step < 100 ? step : step * whole.count / 300] ^= UInt8(1 << (step % 8))
      let code = try fixture.code(of: changed)
      #expect(code != .io && code != .filterFailed && code != .cancelled, "\(step)")
    }
  }

  @Test(
    "heads that lie are refused at once", .timeLimit(.minutes(30)),
    arguments: [
      ("canvas(16383, 16383, 0) + stream", ImagingError.Code.imageCorrupt),
      ("canvas(10, 7, 0) + stream", .imageCorrupt),
      ("canvas(1 << 24, 1 << 24, 2) + frame(10, 6, 0)", .imageTooLarge), ("canvas(10, 6, 2) + stream", .imageCorrupt),
      ("canvas(10, 6, 2) + frame(10, 6, 1)", .imageCorrupt), ("canvas(10, 6, 2) + frame(10, 7, 0)", .imageCorrupt),
      ("canvas(10, 6, 2)", .imageCorrupt), ("canvas(10, 6, 0)", .imageCorrupt), ("b''", .imageCorrupt),
      ("huge", .imageCorrupt), ("chunk(b'VP8L', b'')", .imageCorrupt), ("chunk(b'VP8X', b'')", .imageCorrupt),
    ])
  func lies(_ body: String, _ code: ImagingError.Code) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(Self.chunks + "write(\(body))", [fixture.folder.file("in")])
    #expect(try fixture.code(of: try PassFixture.bytes(fixture.folder.file("in"))) == code)
  }

  @Test("ten thousand frames are counted, not held; a hundred thousand chunks are too many", .timeLimit(.minutes(30)))
  func manyFrames() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.chunks + "write(canvas(10, 6, 2) + frame(10, 6, 0) * 10000)", [fixture.folder.file("in")])
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    #expect(result.source.frames == 10000)
    _ = try PassFixture.python(
      Self.chunks + "write(canvas(10, 6, 2) + chunk(b'XXXX', b'') * 100000)", [fixture.folder.file("in")])
    #expect(try fixture.code(of: try PassFixture.bytes(fixture.folder.file("in"))) == .imageCorrupt)
  }

  @Test("the memory of a picture is counted before it is allocated, and released")
  func memory() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (200, 100)).save(sys.argv[1], 'WEBP')", [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    for (limit, code) in [(540_000, ImagingError.Code.imageTooLarge), (570_000, nil)] {
      let memory = WholePictureMemory(limit: limit)
      #expect(try fixture.code(of: bytes, limits: ImageLimits(memory: memory)) == code)
      #expect(memory.bytesInUse == 0)
    }
  }

  @Test("encoding can be cancelled, and sides are limited by the format")
  func cancelling() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      "Image.new('L', (1, 16)).save(sys.argv[1], 'PNG'); Image.new('L', (16384, 1)).save(sys.argv[2], 'PNG')",
      [fixture.folder.file("in"), fixture.folder.file("wide")])
    let options = OutputOptions(format: .webp)
    var looks = 0
    // Once before and twice while rows pass; then the encoder asks.
    let error = #expect(throws: ImagingError.self) {
      try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), options: options) {
        looks += 1
        return looks > 3
      }
    }
    #expect(error?.code == .cancelled)
    let tooWide = #expect(throws: ImagingError.self) {
      try fixture.pass(fixture.folder.file("wide"), to: fixture.folder.file("out"), options: options)
    }
    #expect(tooWide?.code == .imageTooLarge)
  }

  /// Python that builds files of chunks.
  private static let chunks = """
    u = lambda n: struct.pack('<I', n)[:3]
    chunk = lambda name, data: name + struct.pack('<I', len(data)) + data + b'\\0' * (len(data) % 2)
    f = io.BytesIO(); Image.new('RGB', (10, 6)).save(f, 'WEBP', lossless=True); stream = f.getvalue()[12:]
    canvas = lambda w, h, flags: chunk(b'VP8X', bytes([flags, 0, 0, 0]) + u(w - 1) + u(h - 1))
    frame = lambda w, h, x: chunk(b'ANMF', u(x) + u(0) + u(w - 1) + u(h - 1) + u(1) + b'\\0' + stream)
    huge = b'VP8L' + struct.pack('<I', 0xFFFFFFF0) + stream[8:]
    def write(body): open(sys.argv[1], 'wb').write(b'RIFF' + struct.pack('<I', len(body) + 4) + b'WEBP' + body)

    """
}
