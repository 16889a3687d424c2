import Foundation
import Testing

@testable import Imaging

@Suite struct MetadataTests {
  /// Makes a picture with EXIF, XMP and a profile of several JPEG segments.
  private static let make = """
    exif = Image.Exif(); exif[0x010F] = 'Maker'; exif[0x8298] = 'Somebody'
    profile = bytes(16) + b'RGB ' + np.random.default_rng(5).integers(0, 256, 150000).astype('u1').tobytes()
    image = Image.open(sys.argv[1]).convert('RGB')
    extra = {'xmp': b'<x:xmpmeta>darkroom</x:xmpmeta>'} if sys.argv[3] == 'JPEG' else {}
    image.save(sys.argv[2], sys.argv[3], exif=exif, icc_profile=profile, **extra)
    """

  @Test(
    "EXIF and profiles survive, also from one format to the other",
    arguments: [ImageFormat.jpeg, .png], [ImageFormat.jpeg, .png])
  func survive(_ source: ImageFormat, _ target: ImageFormat) throws {
    let rig = try Rig()
    let (before, after) = (rig.folder.file("in"), rig.folder.file("out"))
    _ = try Rig.python(Self.make, [Rig.sample("chelsea-small.png"), before, source.displayName])
    try rig.pass(before, to: after, recipe: "sepia(0.8)", options: OutputOptions(format: target))
    let printed = try Rig.python(
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
    let rig = try Rig()
    let (before, after) = (rig.folder.file("in"), rig.folder.file("out"))
    _ = try Rig.python(Self.make, [Rig.sample("chelsea-small.png"), before, "JPEG"])
    try rig.pass(before, to: after, options: OutputOptions(format: target))
    #expect(String(decoding: try Rig.bytes(after), as: UTF8.self).contains("<x:xmpmeta>darkroom</x:xmpmeta>"))
  }

  @Test("a PNG keeps what it says of its colours")
  func colours() throws {
    let rig = try Rig()
    let printed = try rig.compare(
      make: """
        extra = chunk(b'gAMA', struct.pack('>I', 45455)) + chunk(b'sRGB', bytes(1)) + chunk(b'cHRM', bytes(range(32)))
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
    let rig = try Rig()
    let printed = try rig.compare(
      make: """
        profile = bytes(16) + b'GRAY' + bytes(200)
        Image.new('L', (9, 9), 100).save(sys.argv[1], icc_profile=profile)
        """,
      recipe: recipe, check: "print(int('icc_profile' in Image.open(sys.argv[2]).info))")
    #expect(printed == "\(count)")
  }

  @Test("metadata beyond the limit is left out, not an error")
  func limit() throws {
    let rig = try Rig()
    let printed = try rig.compare(
      make: """
        bomb = chunk(b'iCCP', b'x\\0\\0' + zlib.compress(bytes(50_000_000)))
        text = chunk(b'zTXt', b'Comment\\0\\0' + zlib.compress(bytes(100_000_000)))
        big = chunk(b'eXIf', bytes(5_000_000))
        open(sys.argv[1], 'wb').write(png(np.zeros((2, 2, 3), int), 8, 2, before=bomb + text + big))
        """,
      recipe: "sepia(1)", check: "print(len(open(sys.argv[2], 'rb').read()) < 1000)")
    #expect(printed == "True")
  }
}
