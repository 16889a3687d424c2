import Foundation
import Testing

@testable import Imaging

@Suite struct MetadataTests {
  /// Python that makes a profile of sRGB, followed by random bytes, of `count` bytes.
  private static let srgb = """
    from PIL import ImageCms
    def srgb(count):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
        extra = np.random.default_rng(5).integers(0, 256, count - len(profile)).astype('u1').tobytes()
        return struct.pack('>I', count) + profile[4:] + extra

    """

  /// Makes a picture with EXIF, XMP and a profile of several JPEG segments.
  private static let make =
    srgb + """
      exif = Image.Exif(); exif[0x010F] = 'Maker'; exif[0x8298] = 'Somebody'
      image = Image.open(sys.argv[1]).convert('RGB')
      extra = {'xmp': b'<x:xmpmeta>darkroom</x:xmpmeta>'} if sys.argv[3] == 'JPEG' else {}
      image.save(sys.argv[2], sys.argv[3], exif=exif, icc_profile=srgb(150040), **extra)
      """

  @Test(
    "EXIF and profiles survive, also from one format to the other",
    arguments: [ImageFormat.jpeg, .png], [ImageFormat.jpeg, .png])
  func survive(_ source: ImageFormat, _ target: ImageFormat) throws {
    let fixture = try PassFixture()
    let (before, after) = (fixture.folder.file("in"), fixture.folder.file("out"))
    _ = try PassFixture.python(Self.make, [PassFixture.sample("chelsea-small.png"), before, source.displayName])
    try fixture.pass(before, to: after, recipe: "sepia(0.8)", options: OutputOptions(format: target, metadata: .all))
    let printed = try PassFixture.python(
      """
      a, b = (Image.open(p) for p in sys.argv[1:3])
      a.load(); b.load()
      assert len(a.info['icc_profile']) > 150000
      print(a.info['icc_profile'] == b.info['icc_profile'], dict(a.getexif()) == dict(b.getexif()), len(b.getexif()))
      """, [before, after])
    #expect(printed == "True True 2")
  }

  @Test("XMP survives from JPEG to both formats", arguments: [ImageFormat.jpeg, .png])
  func xmp(_ target: ImageFormat) throws {
    let fixture = try PassFixture()
    let (before, after) = (fixture.folder.file("in"), fixture.folder.file("out"))
    _ = try PassFixture.python(Self.make, [PassFixture.sample("chelsea-small.png"), before, "JPEG"])
    try fixture.pass(before, to: after, options: OutputOptions(format: target, metadata: .all))
    #expect(String(decoding: try PassFixture.bytes(after), as: UTF8.self).contains("<x:xmpmeta>darkroom</x:xmpmeta>"))
  }

  @Test(
    "metadata is kept according to the policy, profiles always",
    arguments: MetadataPolicy.allCases, [ImageFormat.jpeg, .png])
  func policy(_ policy: MetadataPolicy, _ target: ImageFormat) throws {
    let fixture = try PassFixture()
    let (before, after) = (fixture.folder.file("in"), fixture.folder.file("out"))
    _ = try PassFixture.python(
      Self.srgb + """
        exif = Image.Exif()
        exif[0x010F] = 'Maker'; exif[0x8298] = 'Somebody'; exif[0x013B] = 'Me'; exif[0x0112] = 6
        sets = b''.join(b'\\x1c' + bytes([2, n]) + struct.pack('>H', len(t)) + t for n, t in
                        [(5, b'Title'), (80, b'By'), (116, b'Notice')])
        resources = b'8BIM\\x03\\xed\\0\\0\\0\\0\\0\\x01x\\0' + b'8BIM\\x04\\x04\\0\\0' + struct.pack('>I', len(sets)) + sets
        photoshop = b'Photoshop 3.0\\0' + resources
        image = Image.open(sys.argv[1]).convert('RGB')
        image.save(sys.argv[2], 'JPEG', exif=exif, xmp=b'<x tiff:Orientation="6"/>', icc_profile=srgb(1000),
                   extra=b'\\xff\\xed' + struct.pack('>H', len(photoshop) + 2) + photoshop)
        """, [PassFixture.sample("chelsea-small.png"), before])
    try fixture.pass(before, to: after, recipe: "sepia(0.8)", options: OutputOptions(format: target, metadata: policy))
    let printed = try PassFixture.python(
      """
      from PIL import IptcImagePlugin
      image = Image.open(sys.argv[1]); image.load()
      whole = open(sys.argv[1], 'rb').read()
      iptc = IptcImagePlugin.getiptcinfo(image) or {}
      xmp = 1 if b'tiff:Orientation="1"' in whole else 6 if b'tiff:Orientation' in whole else 0
      print(dict(sorted(image.getexif().items())), sorted(k[1] for k in iptc), xmp, len(image.info['icc_profile']))
      """, [after])
    let iptc = target == .jpeg ? (policy == .all ? "[5, 80, 116]" : "[80, 116]") : "[]"
    switch policy {
    case .none: #expect(printed == "{} [] 0 1000")
    case .copyright: #expect(printed == "{315: 'Me', 33432: 'Somebody'} \(iptc) 0 1000")
    case .all: #expect(printed == "{271: 'Maker', 274: 1, 315: 'Me', 33432: 'Somebody'} \(iptc) 1 1000")
    }
  }

  @Test(
    "the size in EXIF and XMP is that of the result",
    arguments: ["sepia(1)", "resize(fit 100 100)", "crop(31 17) rotate(90)"], ["<", ">"])
  func size(_ recipe: String, _ order: String) throws {
    let fixture = try PassFixture()
    let (before, after) = (fixture.folder.file("in"), fixture.folder.file("out"))
    let printed = try PassFixture.python(
      """
      # Two directories; PixelXDimension has 16 bits, PixelYDimension 32.
      order = '\(order)'
      def field(tag, kind, value):
          number = struct.pack(order + 'HH', value, 0) if kind == 3 else struct.pack(order + 'I', value)
          return struct.pack(order + 'HHI', tag, kind, 1) + number
      def directory(*fields): return struct.pack(order + 'H', len(fields)) + b''.join(fields) + bytes(4)
      main = [(0x0100, 3, 226), (0x0101, 4, 150), (0x0112, 3, 6), (0x8769, 4, 8 + 2 + 48 + 4)]
      tiff = (b'II*' + bytes(1) if order == '<' else b'MM' + bytes(1) + b'*') + struct.pack(order + 'I', 8)
      tiff += directory(*(field(*f) for f in main)) + directory(field(0xA002, 3, 226), field(0xA003, 4, 150))
      xmp = (b'<x tiff:ImageWidth="226" tiff:ImageLength=\\'150\\'><exif:PixelXDimension>226</exif:PixelXDimension>'
             b'<exif:PixelYDimension>a</exif:PixelYDimension></x>')
      Image.open(sys.argv[1]).convert('RGB').save(sys.argv[2], 'JPEG', exif=b'Exif' + bytes(2) + tiff, xmp=xmp)
      a = Image.open(sys.argv[2]).getexif()
      print(a[0x0100], a[0x0112], a.get_ifd(0x8769)[0xA003])
      """, [PassFixture.sample("chelsea-small.png"), before])
    #expect(printed == "226 6 150")
    let size = try fixture.pass(before, to: after, recipe: recipe, options: OutputOptions(metadata: .all)).output
    let told = try PassFixture.python(
      """
      b = Image.open(sys.argv[1]); exif = b.getexif(); own = exif.get_ifd(0x8769)
      print(exif[0x0100], exif[0x0101], own[0xA002], own[0xA003], exif[0x0112], len(exif), len(own))
      print(b.info['xmp'].decode())
      """, [after])
    let (width, height) = (size.width, size.height)
    #expect(
      told == """
        \(width) \(height) \(width) \(height) 1 4 2
        <x tiff:ImageWidth="\(width)" tiff:ImageLength='\(height)'><exif:PixelXDimension>\(width)</exif:PixelXDimension>\
        <exif:PixelYDimension>a</exif:PixelYDimension></x>
        """)
  }

  @Test("metadata of a PNG is found after the pixels and compressed")
  func behind() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        exif = Image.Exif(); exif[0x8298] = 'Somebody'
        packet = chunk(b'iTXt', b'XML:com.adobe.xmp\\0\\1\\0en\\0x\\0' + zlib.compress(b'<x>packet</x>'))
        tiff = chunk(b'eXIf', exif.tobytes()[6:])
        open(sys.argv[1], 'wb').write(png(np.zeros((2, 2, 3), int), 8, 2, after=tiff + packet))
        """,
      recipe: "sepia(1)", options: OutputOptions(metadata: .all),
      check: """
        image = Image.open(sys.argv[2]); image.load()
        print(dict(image.getexif()), image.info['XML:com.adobe.xmp'])
        """)
    #expect(printed == "{33432: 'Somebody'} <x>packet</x>")
  }

  @Test("a thumbnail of the source is removed, even when all metadata is kept")
  func thumbnail() throws {
    // Little-endian: one field in the first directory; in the second the place and length of three bytes.
    let bytes: [UInt8] =
      [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0] + [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0, 26, 0, 0, 0]
      + [2, 0, 1, 2, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0, 2, 2, 4, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0] + [7, 7, 7]
    let exif = try #require(Exif(bytes))
    #expect(exif.orientation == .rotate270)
    let upright = exif.upright(size: PictureSize(width: 3, height: 2))
    #expect(upright.orientation == .upright)
    #expect(upright.bytes.suffix(3) == [0, 0, 0] && upright.bytes[22..<26] == [0, 0, 0, 0])
  }

  @Test("no EXIF stream crashes the reader")
  func anyExif() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<5000 {
      let bytes =
        [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]
        + (0..<40).map { _ in UInt8([0, 1, 2, 0x12, 3, 8, 0x69, 0x87, 255].randomElement(using: &generator) ?? 0) }
      let exif = Exif(bytes)
      _ = exif?.orientation
      #expect(exif?.upright(size: PictureSize(width: 3, height: 2)).bytes.count == bytes.count)
      _ = exif?.copyrightOnly()
    }
  }

  @Test("a PNG keeps its colour chunks")
  func colours() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        extra = chunk(b'gAMA', struct.pack('>I', 45455)) + chunk(b'sRGB', bytes(1))
        extra += chunk(b'cHRM', struct.pack('>8I', 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))
        open(sys.argv[1], 'wb').write(png(np.zeros((2, 2, 3), int), 8, 2, before=extra))
        """,
      recipe: "sepia(1)",
      check: """
        a, b = (open(p, 'rb').read() for p in sys.argv[1:3])
        print(a[33:33 + 16 + 13 + 44] == b[33:33 + 16 + 13 + 44])
        """)
    #expect(printed == "True")
  }

  @Test("a grey profile is left out of a picture that became coloured", arguments: [("sepia(1)", 0), ("none", 1)])
  func greyProfile(_ recipe: String, _ count: Int) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: ColourTests.prelude + """
        Image.new('L', (9, 9), 100).save(sys.argv[1], icc_profile=profiles['srgb-grey'])
        """,
      recipe: recipe, check: "print(int('icc_profile' in Image.open(sys.argv[2]).info))")
    #expect(printed == "\(count)")
  }

  @Test("of EXIF that a JPEG cannot hold, artist and copyright are kept; of XMP nothing; profiles whole")
  func oversize() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: Self.srgb + """
        exif = Image.Exif(); exif[0x8298] = 'Somebody'; exif[0x010E] = 'd' * 70000
        packet = chunk(b'iTXt', b'XML:com.adobe.xmp\\0\\0\\0\\0\\0' + b'<x>' + b'p' * 70000 + b'</x>')
        Image.new('RGB', (9, 9)).save(sys.argv[1], exif=exif, icc_profile=srgb(150000))
        whole = open(sys.argv[1], 'rb').read()
        open(sys.argv[1], 'wb').write(whole[:33] + packet + whole[33:])
        """,
      recipe: "none", options: OutputOptions(format: .jpeg, metadata: .all),
      check: """
        image = Image.open(sys.argv[2])
        print(dict(image.getexif()), 'xmp' in image.info, len(image.info['icc_profile']))
        """)
    #expect(printed == "{33432: 'Somebody'} False 150000")
  }

  @Test("of metadata that a file may have once, the first is used")
  func twice() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        def exif(text):
            exif = Image.Exif(); exif[0x8298] = text
            return chunk(b'eXIf', exif.tobytes()[6:])
        def density(n): return chunk(b'pHYs', struct.pack('>IIB', n, n, 1))
        extra = exif('First') + exif('Second') + density(1000) + density(2000)
        open(sys.argv[1], 'wb').write(png(np.zeros((2, 2, 3), int), 8, 2, before=extra))
        """,
      recipe: "none",
      check: """
        whole = open(sys.argv[2], 'rb').read()
        print(whole.count(b'eXIf'), whole.count(b'First'), whole.count(b'pHYs'), struct.pack('>I', 1000) in whole)
        """)
    #expect(printed == "1 1 1 True")
  }

  @Test("metadata beyond the limit is left out, not an error")
  func limit() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        bomb = chunk(b'iCCP', b'x\\0\\0' + zlib.compress(bytes(50_000_000)))
        text = chunk(b'zTXt', b'Comment\\0\\0' + zlib.compress(bytes(100_000_000)))
        big = chunk(b'eXIf', bytes(5_000_000))
        open(sys.argv[1], 'wb').write(png(np.zeros((2, 2, 3), int), 8, 2, before=bomb + text + big))
        """,
      recipe: "sepia(1)", check: "print(len(open(sys.argv[2], 'rb').read()) < 1000)")
    #expect(printed == "True")
  }

  /// The profiles and XMP packets that are read of a PNG with these chunks, and their numbers of bytes.
  private func profilesAndXMP(_ chunks: [UInt8]) throws -> [String] {
    let (file, png) = (try ScratchFile(), try CorpusPictures.bytes("png-8").dropLast())
    try file.write(png[..<33] + chunks + png[33...])
    return PNGMetadataReader.metadata(of: file.descriptor).items.compactMap {
      switch $0 {
      case .icc(let bytes): "icc \(bytes.count)"
      case .xmp(let bytes): "xmp \(bytes.count)"
      default: nil
      }
    }
  }

  private func compressedXMP(_ packet: [UInt8]) throws -> [UInt8] {
    let head = Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8)
    return PNGChunk.encoded(PNGChunk.text, head + (try #require(Deflate.compressed(packet))))
  }

  private func profile(_ bytes: [UInt8]) throws -> [UInt8] {
    let (name, content) = try #require(PNGChunk.chunk(of: .icc(bytes)))
    return PNGChunk.encoded(name, content)
  }

  @Test(arguments: [false, true])
  func `of thousands of compressed chunks of a PNG the first alone is expanded`(isValid: Bool) throws {
    let first = [UInt8](repeating: 1, count: isValid ? 9 : ImageLimits.maxMetadataBytes + 1)
    let other = [UInt8](repeating: 2, count: ImageLimits.maxMetadataBytes)
    let others = try Array(repeatElement(profile(other) + compressedXMP(other), count: 3000).joined())
    let read = try profilesAndXMP(profile(first) + compressedXMP(first) + others)
    #expect(read == (isValid ? ["icc 9", "xmp 9"] : []))
  }

  @Test(arguments: [0, 1])
  func `a compressed chunk of a PNG is expanded as far as others leave room`(surplus: Int) throws {
    let icc = [UInt8](repeating: 1, count: 3 << 20)
    let packet = [UInt8](repeating: 2, count: ImageLimits.maxMetadataBytes - icc.count + surplus)
    let read = try profilesAndXMP(profile(icc) + compressedXMP(packet))
    #expect(read == ["icc \(icc.count)"] + (surplus == 0 ? ["xmp \(packet.count)"] : []))
  }
}
