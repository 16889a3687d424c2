import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct BMPTests {
  private static let encoders = """
    import subprocess

    def convert(*words):
        subprocess.run(['convert-im6', *words], check=True)

    def picture(w, h, colours=None, seed=1):
        g = np.random.default_rng(seed)
        if colours is None:
            return Image.fromarray(g.integers(0, 256, (h, w, 4), 'u1'), 'RGBA')
        p = Image.fromarray(np.repeat(g.integers(0, colours, (h, (w + 3) // 4), 'u1'), 4, 1)[:, :w].copy(), 'P')
        p.putpalette(g.integers(0, 256, 3 * colours, 'u1').tobytes())
        return p

    def bmp(w, h, bits, compression, rows, colours=b'', masks=b'', size=40, extra=b'', end=b'', top_down=False):
        head = struct.pack('<IiiHHIIiiII', size, w, -h if top_down else h, 1, bits, compression, 0, 0, 0, 0, 0) + extra
        at = 14 + len(head) + len(masks) + len(colours)
        return b'BM' + struct.pack('<IHHI', 0, 0, 0, at) + head + masks + colours + rows + end

    """

  static let kinds = [
    ("1 bit", "picture(w, h).convert('1').save(path)"), ("8 bits", "picture(w, h, 200).save(path)"),
    ("grey", "picture(w, h).convert('L').save(path)"), ("24 bits", "picture(w, h).convert('RGB').save(path)"),
    ("4 bits", "picture(w, h, 16).save(path + '.png'); convert(path + '.png', '-type', 'palette', 'BMP3:' + path)"),
    ("OS/2", "picture(w, h).convert('RGB').save(path + '.png'); convert(path + '.png', 'BMP2:' + path)"),
    (
      "OS/2, 8 bits",
      "picture(w, h, 200).save(path + '.png'); convert(path + '.png', '-type', 'palette', 'BMP2:' + path)"
    ),
    (
      "8 bits in runs",
      "picture(w, h, 200).save(path + '.png'); convert(path + '.png', '-type', 'palette', '-compress', 'RLE', 'BMP3:' + path)"
    ),
    (
      "565",
      "picture(w, h).convert('RGB').save(path + '.png'); convert(path + '.png', '-define', 'bmp:subtype=RGB565', path)"
    ),
    (
      "555",
      "picture(w, h).convert('RGB').save(path + '.png'); convert(path + '.png', '-define', 'bmp:subtype=RGB555', path)"
    ),
  ]

  @Test("every depth is read as Pillow reads it, from every encoder", arguments: kinds)
  func decoded(_ kind: (name: String, script: String)) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        for w, h in [(1, 1), (7, 3), (8, 8), (33, 257), (301, 200)]:
            path = f'{sys.argv[1]}/{w}x{h}.bmp'
            \(kind.script)
            print(path.split('/')[-1])
        """, [fixture.folder.path]
    ).split(separator: "\n").map(String.init)
    #expect(names.count == 5)
    for name in names {
      let result = try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out"))
      #expect(result.source.format == .bmp && result.output.format == .png)
    }
    let printed = try PassFixture.python(
      """
      import glob
      for source in sorted(glob.glob(sys.argv[1] + '/*.bmp')):
          a, b = Image.open(source), Image.open(source + '.out')
          assert b.mode == 'RGB', b.mode
          difference = np.abs(np.asarray(a.convert('RGB')).astype(int) - np.asarray(b))
          # Pillow rounds 5 and 6 bits down.
          assert difference.max() <= \(kind.name.hasPrefix("5") ? 1 : 0), (source, difference.max())
      print('same')
      """, [fixture.folder.path])
    #expect(printed == "same")
  }

  /// The pixels of a file, as rows of hexadecimal numbers.
  private func pixels(_ fixture: PassFixture, _ file: String) throws -> String {
    _ = try PassFixture.python(Self.encoders + "open(sys.argv[1], 'wb').write(\(file))", [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    return try PassFixture.python(
      """
      i = Image.open(sys.argv[1])
      for row in np.asarray(i): print(*(bytes(p).hex() for p in row))
      """, [fixture.folder.file("out")])
  }

  /// Colours 0 to 3 of 2 bits: black, red, green, blue.
  private static let colours = "bytes.fromhex('00000000 0000ff00 00ff0000 ff000000')"

  @Test(
    "rows, masks, runs and alpha are honoured",
    arguments: [
      // Rows from below, and from above.
      ("bmp(1, 2, 24, 0, bytes.fromhex('01020300 04050600'))", "060504\n030201"),
      ("bmp(1, 2, 24, 0, bytes.fromhex('01020300 04050600'), top_down=True)", "030201\n060504"),
      // The padding of the last row is missing.
      ("bmp(1, 2, 24, 0, bytes.fromhex('01020300 040506'))", "060504\n030201"),
      ("bmp(3, 1, 2, 0, bytes.fromhex('6c000000'), \(colours))", "ff0000 00ff00 0000ff"),
      // An index without a colour.
      ("bmp(2, 1, 2, 0, bytes.fromhex('70000000'), bytes.fromhex('00000000 0000ff00'))", "ff0000 000000"),
      // Masks after the header; 10 bits.
      (
        "bmp(1, 1, 32, 3, struct.pack('<I', 1023 << 20 | 512 << 10 | 1), masks=struct.pack('<3I', 1023 << 20, 1023 << 10, 1023))",
        "ff8000"
      ),
      // The fourth byte is alpha if a header has a mask for it, even if it is 0 everywhere.
      ("bmp(2, 1, 32, 0, bytes.fromhex('01020380 04050600'))", "030201 060504"),
      (
        "bmp(2, 1, 32, 3, bytes.fromhex('01020380 04050600'), size=56, extra=bytes.fromhex('0000ff00 00ff0000 ff000000 000000ff'))",
        "03020180 06050400"
      ),
      (
        "bmp(2, 1, 32, 3, bytes.fromhex('01020300 04050600'), size=56, extra=bytes.fromhex('0000ff00 00ff0000 ff000000 000000ff'))",
        "03020100 06050400"
      ),
      // Runs: two of one colour, a literal, the end of the row, a jump; what no run reaches is transparent.
      (
        "bmp(5, 2, 8, 1, bytes.fromhex('0201 0003 0203 0100 0000 0002 0100 0102 0001'), \(colours))",
        "00000000 00ff00ff 00000000 00000000 00000000\nff0000ff ff0000ff 00ff00ff 0000ffff ff0000ff"
      ),
      // Runs of 4 bits alternate, and are cut off at the end of the row.
      ("bmp(3, 1, 4, 2, bytes.fromhex('0512 0001'), \(colours))", "ff0000 00ff00 ff0000"),
      // The code for the end is missing, but no pixel is.
      ("bmp(2, 1, 8, 1, bytes.fromhex('0201'), \(colours))", "ff0000 ff0000"),
    ])
  func kept(_ file: String, _ expected: String) throws {
    #expect(try pixels(try PassFixture(), file) == expected)
  }

  @Test(
    "a damaged file fails with its reason",
    arguments: [
      ("bmp(2, 2, 24, 0, bytes(10))", ImagingError.Code.imageTruncated),
      ("bmp(2, 2, 24, 0, bytes(16))[:40]", .imageTruncated),
      ("bmp(2, 2, 8, 1, bytes.fromhex('0201'), \(colours))", .imageTruncated),
      ("bmp(2, 2, 8, 1, bytes.fromhex('0201 0000 0201 0000 0201 0001'), \(colours))", .imageCorrupt),
      ("bmp(2, 2, 8, 0, bytes(8))", .imageCorrupt),
      ("bmp(0, 2, 24, 0, bytes(16))", .imageCorrupt), ("bmp(-2, 2, 24, 0, bytes(16))", .imageCorrupt),
      ("bmp(2, 0, 24, 0, bytes(16))", .imageCorrupt), ("bmp(2, -2147483648, 24, 0, bytes(16))", .imageTooLarge),
      ("bmp(60000, 60000, 24, 0, bytes(16))", .imageTooLarge),
      ("bmp(60000, 60000, 8, 1, bytes.fromhex('0201 0001'), \(colours))", .imageTooLarge),
      ("bmp(2, 2, 24, 4, bytes(16))", .unsupportedFormat), ("bmp(2, 2, 24, 5, bytes(16))", .unsupportedFormat),
      ("bmp(2, 2, 7, 0, bytes(16))", .unsupportedFormat),
      ("b'BM' + struct.pack('<IHHI', 0, 0, 0, 20) + bmp(2, 2, 24, 0, bytes(16))[14:]", .imageCorrupt),
    ])
  func damaged(_ file: String, _ code: ImagingError.Code) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(Self.encoders + "open(sys.argv[1], 'wb').write(\(file))", [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    #expect(try fixture.code(of: bytes) == code)
  }

  @Test("runs of a large picture take memory within the budget")
  func memory() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders + "open(sys.argv[1], 'wb').write(bmp(300, 200, 8, 1, bytes.fromhex('0201 0001'), \(Self.colours)))",
      [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    for (budget, code) in [(240_000, ImagingError.Code?.none), (239_999, .imageTooLarge)] {
      var limits = ImageLimits(memory: WholePictureMemory(limit: budget))
      limits.isConfined = true
      #expect(try fixture.code(of: bytes, limits: limits) == code)
    }
  }

  @Test("profile and density go into the result, and a copy has all but what follows the picture")
  func metadata() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        from PIL import ImageCms
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
        head = struct.pack('<IiiHHIIiiII', 124, 1, 1, 1, 24, 0, 0, 2835, 5669, 0, 0) + bytes(16) + b'DEBM' + bytes(48)
        head += struct.pack('<IIII', 4, 128, len(profile), 0)
        open(sys.argv[1], 'wb').write(
            b'BM' + struct.pack('<IHHI', 0, 0, 0, 138) + head + bytes.fromhex('01020300') + profile + b'TRAILER')
        """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    let printed = try PassFixture.python(
      "i = Image.open(sys.argv[1]); print('icc_profile' in i.info, [round(d) for d in i.info['dpi']])",
      [fixture.folder.file("out")])
    #expect(printed == "True [72, 144]")
    let file = try ScratchFile()
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    try file.write(bytes)
    for policy in MetadataPolicy.allCases {
      #expect(try file.copied(policy).bytes == Array(bytes.dropLast("TRAILER".utf8.count)))
    }
  }

  @Test("a negative density is none", arguments: [(-2835, 2835), (2835, -1), (-1, -1)])
  func density(_ horizontal: Int, _ vertical: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        data = bytearray(bmp(2, 1, 24, 0, bytes(8)))
        struct.pack_into('<ii', data, 38, \(horizontal), \(vertical))
        open(sys.argv[1], 'wb').write(data)
        """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    #expect(try PassFixture.python("print(Image.open(sys.argv[1]).info)", [fixture.folder.file("out")]) == "{}")
  }
}
