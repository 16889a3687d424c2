import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct GIFTests {
  /// Makes GIF files with Pillow, gifsicle and ImageMagick.
  private static let encoders = """
    import subprocess

    def gifsicle(path, *words):
        subprocess.run(['gifsicle', '--batch', *words, path], check=True)

    def convert(*words):
        subprocess.run(['convert-im6', *words], check=True)

    def noise(w, h, colours, seed=1):
        g = np.random.default_rng(seed)
        p = Image.fromarray(g.integers(0, colours, (h, w), 'u1'), 'P')
        p.putpalette(g.integers(0, 256, 3 * colours, 'u1').tobytes())
        return p

    """

  /// How a file is made at `path`, of which `w`, `h` and `colours` are known.
  static let kinds = [
    ("plain", "noise(w, h, colours).save(path)"),
    ("interlaced", "noise(w, h, colours).save(path, interlace=True)"),
    ("not interlaced", "noise(w, h, colours).save(path, interlace=False)"),
    ("transparent", "noise(w, h, colours).save(path, transparency=1)"),
    ("optimised", "noise(w, h, colours).save(path); gifsicle(path, '-O3')"),
    ("GIF87a", "noise(w, h, colours).save(path); gifsicle(path, '--no-extensions', '--no-comments')"),
    ("of ImageMagick", "noise(w, h, colours).save(path + '.png'); convert(path + '.png', '-interlace', 'GIF', path)"),
    (
      "animated",
      "noise(w, h, colours).save(path, save_all=True, append_images=[noise(w, h, colours, n) for n in (2, 3)], loop=0)"
    ),
  ]

  @Test("the first frame is read as Pillow reads it, from every encoder", arguments: kinds)
  func decoded(_ kind: (name: String, script: String)) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        for w, h in [(1, 1), (7, 3), (8, 8), (33, 257), (300, 200)]:
            for colours in [2, 3, 16, 200, 256]:
                path = f'{sys.argv[1]}/{w}x{h}-{colours}.gif'
                \(kind.script)
                print(path.split('/')[-1])
        """, [fixture.folder.path]
    ).split(separator: "\n").map(String.init)
    #expect(names.count == 25)
    for name in names {
      let result = try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out"))
      #expect(result.source.format == .gif && result.output.format == .png)
      #expect(result.source.frames == (kind.name == "animated" ? 3 : 1))
    }
    let printed = try PassFixture.python(
      """
      import glob
      for source in sorted(glob.glob(sys.argv[1] + '/*.gif')):
          a, b = (np.asarray(Image.open(p).convert('RGBA')) for p in (source, source + '.out'))
          assert a.shape == b.shape, source
          # The colours of transparent pixels are not shown.
          assert (a[..., 3] == b[..., 3]).all() and (a[a[..., 3] > 0] == b[a[..., 3] > 0]).all(), source
      print('same')
      """, [fixture.folder.path])
    #expect(printed == "same")
  }

  /// A file of blocks.
  private static let blocks = """
    def table(*colours):
        return bytes(sum(([c >> 16, c >> 8 & 255, c & 255] for c in colours), []))

    def screen(w, h, colours=b'', background=0):
        bits = max((len(colours) // 3).bit_length() - 2, 0)
        return b'GIF89a' + struct.pack('<HHBBB', w, h, 0x80 | bits if colours else 0, background, 0) + colours

    def control(transparent=None):
        return b'!\\xf9\\x04' + bytes([transparent is not None, 0, 0, transparent or 0, 0])

    def data(indices, bits=2):
        '''Not compressed: a clear code before each index.'''
        out, at = 0, 0
        for code in sum(([1 << bits, i] for i in indices), []) + [(1 << bits) + 1]:
            out |= code << at
            at += bits + 1
        return bytes([bits]) + sub(out.to_bytes((at + 7) // 8, 'little'))

    def sub(data):
        return b''.join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b'\\0'

    def image(x, y, w, h, indices, colours=b''):
        bits = max((len(colours) // 3).bit_length() - 2, 0)
        return b',' + struct.pack('<HHHHB', x, y, w, h, 0x80 | bits if colours else 0) + colours + data(indices)

    COLOURS = table(0xff0000, 0x00ff00, 0x0000ff, 0xffffff)

    """

  /// The pixels of a file of blocks, as rows of hexadecimal numbers.
  private func pixels(_ fixture: PassFixture, _ blocks: String) throws -> String {
    _ = try PassFixture.python(Self.blocks + "open(sys.argv[1], 'wb').write(\(blocks))", [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    return try PassFixture.python(
      "for row in np.asarray(Image.open(sys.argv[1]).convert('RGBA')): print(*(bytes(p).hex() for p in row))",
      [fixture.folder.file("out")])
  }

  @Test(
    "a frame lies on a transparent canvas, which contains it",
    arguments: [
      // A frame within the screen; the background colour is not shown.
      (
        "screen(3, 2, COLOURS, 1) + image(1, 1, 1, 1, [2]) + b';'",
        "00000000 00000000 00000000\n00000000 0000ffff 00000000"
      ),
      // Beyond it.
      ("screen(1, 1, COLOURS) + image(1, 0, 2, 1, [0, 3]) + b';'", "00000000 ff0000ff ffffffff"),
      ("screen(0, 0, COLOURS) + image(0, 0, 2, 1, [0, 3]) + b';'", "ff0000ff ffffffff"),
      // Its own colours, of which one is transparent, and one is missing.
      (
        "screen(3, 1, COLOURS) + control(1) + image(0, 0, 3, 1, [0, 1, 3], table(0x010203, 0x040506)) + b';'",
        "010203ff 00000000 000000ff"
      ),
      // Without any colours all are black.
      ("screen(1, 1) + image(0, 0, 1, 1, [1]) + b';'", "000000ff"),
      // Transparency applies to the next frame only.
      (
        "screen(1, 1, COLOURS) + control() + image(0, 0, 1, 1, [1]) + control(1) + image(0, 0, 1, 1, [1]) + b';'",
        "00ff00ff"
      ),
    ])
  func canvas(_ blocks: String, _ expected: String) throws {
    #expect(try pixels(try PassFixture(), blocks) == expected)
  }

  @Test(
    "a damaged file fails with its reason, or with a warning when no pixel is lost",
    arguments: [
      ("screen(1, 1, COLOURS)", ImagingError.Code.imageTruncated),
      ("screen(1, 1, COLOURS) + b';'", .imageCorrupt),
      ("screen(1, 1, COLOURS) + image(0, 0, 0, 1, []) + b';'", .imageCorrupt),
      ("screen(2, 2, COLOURS) + image(0, 0, 2, 2, [1, 2]) + b';'", .imageCorrupt),
      ("screen(1, 1, COLOURS) + b'?'", .imageCorrupt),
      ("screen(1, 1, COLOURS) + image(0, 0, 1, 1, [1]) + b'?'", .imageCorrupt),
      ("screen(2, 2, COLOURS) + image(0, 0, 2, 2, [1, 2, 3, 0])[:-3]", .imageTruncated),
      ("screen(1, 1, COLOURS) + image(0, 0, 1, 1, [1]) + image(0, 0, 1, 1, [1])[:-3]", .imageTruncated),
      ("screen(1, 1, COLOURS) + image(0, 0, 1, 1, [1]) + b'!\\xfe'", .imageTruncated),
      // A code that is not defined yet.
      (
        "screen(2, 1, COLOURS) + b',' + struct.pack('<HHHHB', 0, 0, 2, 1, 0) + b'\\2' + sub(b'\\x7c\\x7f') + b';'",
        .imageCorrupt
      ),
      // Codes of more bits than there are.
      (
        "screen(2, 1, COLOURS) + b',' + struct.pack('<HHHHB', 0, 0, 2, 1, 0) + b'\\x0c' + sub(b'\\x7c\\x7f') + b';'",
        .imageCorrupt
      ),
      ("screen(60000, 60000, COLOURS) + image(0, 0, 1, 1, [1]) + b';'", .imageTooLarge),
      ("screen(1, 1, COLOURS) + image(65535, 65535, 1, 1, [1]) + b';'", .imageTooLarge),
    ])
  func damaged(_ blocks: String, _ code: ImagingError.Code) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(Self.blocks + "open(sys.argv[1], 'wb').write(\(blocks))", [fixture.folder.file("in")])
    #expect(try fixture.code(of: PassFixture.bytes(fixture.folder.file("in"))) == code)
  }

  @Test func `a copy of a GIF with damage behind its first frame is one where that is accepted, as decoding it is`()
    throws
  {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.blocks + "open(sys.argv[1], 'wb').write(screen(1, 1, COLOURS) + image(0, 0, 1, 1, [1]) + b'?TRAILER')",
      [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    let file = try ScratchFile()
    try file.write(bytes)
    for policy in MetadataPolicy.allCases {
      #expect(throws: ImagingError.self) { try file.copied(policy) }
      var limits = ImageLimits()
      limits.damaged = .accept
      let (copy, copied) = try file.copied(policy, limits: limits)
      let decoded = try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(damaged: .accept))
      #expect(copy.damage == decoded.damage && copy.damage?.isAccepted == true && copy.info == decoded.source)
      #expect(bytes.starts(with: copied) && copied.firstRange(of: Array("TRAILER".utf8)) == nil)
    }
  }

  @Test("a missing trailer is a warning")
  func trailer() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.blocks + "open(sys.argv[1], 'wb').write(screen(1, 1, COLOURS) + image(0, 0, 1, 1, [1]))",
      [fixture.folder.file("in")])
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    #expect(result.damage == PictureDamage(.harmless, "the GIF has no trailer"))
  }

  @Test("an interlaced frame of a large canvas takes memory for its indices only, within the budget")
  func memory() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders + "noise(400, 300, 16).save(sys.argv[1], 'GIF', interlace=True)", [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    for (budget, code) in [(120_000, ImagingError.Code?.none), (119_999, .imageTooLarge)] {
      var limits = ImageLimits(memory: WholePictureMemory(limit: budget))
      limits.isConfined = true
      #expect(try fixture.code(of: bytes, limits: limits) == code)
    }
  }

  @Test("a hundred thousand frames are counted, not decoded")
  func frames() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.blocks + "open(sys.argv[1], 'wb').write(screen(1, 1, COLOURS) + 100_000 * image(0, 0, 1, 1, [1]) + b';')",
      [fixture.folder.file("in")])
    #expect(try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out")).source.frames == 100_000)
  }

  @Test(
    "a copy has the frames, the colours and the repetitions, and the metadata that is kept",
    arguments: MetadataPolicy.allCases)
  func copy(_ policy: MetadataPolicy) throws {
    let file = try ScratchFile()
    let folder = try PassFixture().folder
    _ = try PassFixture.python(
      Self.blocks
        + """
        def application(name, content):
            return b'!\\xff\\x0b' + name + content

        magic = bytes([1]) + bytes(range(255, -1, -1)) + b'\\0'
        open(sys.argv[1], 'wb').write(
            screen(2, 1, COLOURS) + application(b'NETSCAPE2.0', sub(b'\\1\\0\\0')) + b'!\\xfe' + sub(b'SECRET')
            + application(b'ICCRGBG1012', sub(bytes(300) + b'PROFILE'))
            + application(b'XMP DataXMP', b'<x:xmpmeta>SECRET</x:xmpmeta>' + magic)
            + application(b'OTHER   1.0', sub(b'SECRET')) + control(1) + image(0, 0, 2, 1, [0, 1]) + control()
            + image(0, 0, 1, 1, [2]) + b'!\\xfe' + sub(b'SECRET') + b';TRAILER')
        """, [folder.file("in")])
    try file.write(try PassFixture.bytes(folder.file("in")))
    let (copy, bytes) = try file.copied(policy)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(copy.info == ImageInfo(format: .gif, width: 2, height: 1, frames: 2))
    #expect(text.components(separatedBy: "SECRET").count == (policy == .all ? 5 : 1))
    #expect(text.contains("NETSCAPE2.0") && text.contains("PROFILE") && !text.contains("TRAILER"))
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("out")))
    let printed = try PassFixture.python(
      """
      for path in sys.argv[1:]:
          image = Image.open(path)
          print(image.n_frames, image.info['loop'], [image.seek(n) or image.convert('RGBA').tobytes().hex() for n in (0, 1)])
      """, [folder.file("in"), folder.file("out")])
    let lines = printed.split(separator: "\n")
    #expect(lines.count == 2 && lines[0] == lines[1])
    try file.write(bytes)
    #expect(try file.copied(policy).copy.isWholeFile)
  }

  @Test("profile and XMP go into the result, as the policy says")
  func metadata() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.blocks
        + """
        from PIL import ImageCms
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
        magic = bytes([1]) + bytes(range(255, -1, -1)) + b'\\0'
        open(sys.argv[1], 'wb').write(
            screen(1, 1, COLOURS) + b'!\\xff\\x0bICCRGBG1012' + sub(profile)
            + b'!\\xff\\x0bXMP DataXMP<x:xmpmeta>PACKET</x:xmpmeta>' + magic + image(0, 0, 1, 1, [2]) + b';')
        """, [fixture.folder.file("in")])
    for (policy, isKept) in [(MetadataPolicy.copyright, "False"), (.all, "True")] {
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(metadata: policy))
      let printed = try PassFixture.python(
        "i = Image.open(sys.argv[1]); print('icc_profile' in i.info, 'PACKET' in str(i.info))",
        [fixture.folder.file("out")])
      #expect(printed == "True \(isKept)")
    }
  }
}
