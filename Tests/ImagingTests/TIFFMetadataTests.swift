import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct TIFFMetadataTests {
  /// Makes a picture with all kinds of metadata, and pages.
  private static let made = """
    from PIL import ImageCms
    PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
    IIM = (b'\\x1c\\x02\\x50\\0\\3Ada' + b'\\x1c\\x02\\x78\\0\\6SECRET' + b'\\x1c\\x02\\x74\\0\\7(c) Ada')

    def rich(order='<', big=False, orientation=6):
        a = noise(20, 10, 3, 8)
        data = a.astype('u1').tobytes()
        head = 16 if big else 8
        out, at = data, head + len(data)
        exif = directory({36867: (2, b'2001:01:01 00:00:00\\0'), 37500: (7, b'SECRET maker'),
                          37510: (7, b'SECRET remark')}, at, 0, order, big)
        gps_at = at + len(exif)
        gps = directory({1: (2, b'N\\0'), 29: (2, b'SECRET 1999\\0')}, gps_at, 0, order, big)
        first = gps_at + len(gps)
        fields = {**fields_of(a, 8, 2), 273: (4, [head]), 279: (4, [len(data)]), 274: (3, [orientation]),
                  270: (2, b'SECRET description\\0'), 271: (2, b'Kodak\\0'), 305: (2, b'SECRET program\\0'),
                  315: (2, b'Ada\\0'), 33432: (2, b'(c) Ada\\0'), 282: (5, struct.pack(order + 'II', 144, 1)),
                  283: (5, struct.pack(order + 'II', 720, 10)), 296: (3, [2]), 700: (1, b'<x:xmpmeta>SECRET</x:xmpmeta>'),
                  33723: (7, IIM), 34377: (7, b'SECRET resources'), 34675: (7, PROFILE), 34665: (4, [at]),
                  34853: (13, [gps_at]), 65000: (2, b'SECRET private\\0'), 65001: (1, b'SEC')}
        page = directory(fields, first, True, order, big)
        second = directory({**fields_of(a, 8, 2), 273: (4, [head]), 279: (4, [len(data)]),
                            305: (2, b'SECRET program of page 2\\0')}, first + len(page), 0, order, big)
        return header(order, big, first) + out + exif + gps + page + second + b'TRAILER SECRET'

    """

  @Test(
    "a copy keeps the pages, and of the metadata what is asked for",
    arguments: [(false, "<"), (false, ">"), (true, "<")])
  func copied(_ isBig: Bool, _ order: String) throws {
    let fixture = try PassFixture()
    let source = fixture.folder.file("source")
    _ = try PassFixture.python(
      TIFFTests.encoders + Self.made
        + "open(sys.argv[1], 'wb').write(rich('\(order)', \(isBig ? "True" : "False")))", [source])
    let file = try ScratchFile()
    for policy in MetadataPolicy.allCases {
      try file.write(try PassFixture.bytes(source))
      let (parts, bytes) = try file.copied(policy)
      #expect(parts.info == ImageInfo(format: .tiff, width: 20, height: 10, frames: 2))
      #expect(!parts.hasUnreadableMetadata && !parts.isWholeFile)
      let copy = try fixture.write(bytes, as: "\(policy)")
      #expect(try fixture.pass(copy, to: fixture.folder.file("out")).source == parts.info)
      try file.write(bytes)
      let again = try file.copied(policy).copy
      #expect(again.isWholeFile, "\(policy): \(bytes.count), \(again.parts)")
      let printed = try PassFixture.python(
        """
        a, b = (Image.open(p) for p in sys.argv[1:3])
        for n in range(2):
            a.seek(n), b.seek(n)
            assert (np.asarray(a) == np.asarray(b)).all()
        b.seek(0)
        data = open(sys.argv[2], 'rb').read()
        t = b.tag_v2
        print(t.get(315), t.get(271), t.get(33432), t.get(274), t.get(282), len(t.get(34675, b'')) > 100,
              data.count(b'SECRET'), b'by-line' in data, b'\\x1c\\x02\\x50\\0\\3Ada' in data, 34665 in t, 34853 in t, 65001 in t)
        """, [source, copy])
      let expected = [
        MetadataPolicy.none: "None None None 6 144.0 True 0 False False False False False",
        .copyright: "Ada None (c) Ada 6 144.0 True 0 False True False False False",
        .all: "Ada Kodak (c) Ada 6 144.0 True 10 False True True True True",
      ]
      #expect(printed == expected[policy], "\(policy)")
    }
  }

  @Test func `a copy of what has nothing to lose is the file, also from tiffcp and Pillow`() throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      TIFFTests.encoders
        + """
        path = f'{sys.argv[1]}/own'
        open(path, 'wb').write(tiff(noise(40, 30, 3, 8), 8, 2))
        print('own')
        for n, way in enumerate(['-c none', '-t -w 16 -l 16 -c lzw', '-c jpeg:r', '-p separate -c zip -r 7', '-8', '-B']):
            run('tiffcp', *way.split(), path, f'{sys.argv[1]}/{n}')
            print(n)
        pages = [Image.fromarray(noise(9, 7, 1, 8, n)[..., 0].astype('u1')) for n in range(3)]
        pages[0].save(f'{sys.argv[1]}/pillow', 'TIFF', save_all=True, append_images=pages[1:])
        print('pillow')
        """, [fixture.folder.path]
    ).split(separator: "\n").map(String.init)
    let file = try ScratchFile()
    for name in names {
      let bytes = try PassFixture.bytes(fixture.folder.file(name))
      try file.write(bytes)
      for policy in MetadataPolicy.allCases {
        let copy = try file.copied(policy).copy
        // Pillow appends whole files as pages, whose headers nothing refers to.
        let isChanged = name == "pillow" && policy != .all
        #expect(copy.isWholeFile != isChanged, "\(name): \(bytes.count), \(copy.parts)")
      }
      #expect(try file.copied(.none).copy.info.frames == (name == "pillow" ? 3 : 1))
    }
  }

  @Test func `what is dropped and kept at once stays, and is warned of`() throws {
    let fixture = try PassFixture()
    let file = try ScratchFile()
    // A description that is where the pixels are; one that is behind the file; EXIF that is behind the file.
    for (script, isUnreadable, mayKeep) in [
      ("tiff(A, 8, 1, more={270: (4, [8] * 2)}).replace(D, struct.pack('<HHII', 270, 2, 100, 8))", false, true),
      ("tiff(A, 8, 1, more={270: (4, [8] * 2)}).replace(D, struct.pack('<HHII', 270, 2, 1 << 31, 8))", false, true),
      ("tiff(A, 8, 1, more={34665: (4, [0xfffffff0])})", true, false),
    ] {
      _ = try PassFixture.python(
        TIFFTests.encoders
          + """
          A = noise(20, 10, 1, 8)
          whole = tiff(A, 8, 1, more={270: (4, [8] * 2)})
          at = whole.index(struct.pack('<HHI', 270, 4, 2))
          D = whole[at:at + 12]
          open(sys.argv[1], 'wb').write(\(script))
          """, [fixture.folder.file("in")])
      let bytes = try PassFixture.bytes(fixture.folder.file("in"))
      try file.write(bytes)
      let (copy, copied) = try file.copied(.none)
      #expect(copy.hasUnreadableMetadata == isUnreadable && copy.mayKeepMetadata == mayKeep)
      #expect(copied[..<208] == bytes[..<208])
      try file.write(copied)
      let again = try file.copied(.none).copy
      #expect(again.isWholeFile, "\(script): \(copied.count), \(again.parts)")
    }
  }

  @Test("directories in each other are followed a few deep", arguments: [330, 34665], [7, 100_000])
  func nested(_ tag: Int, _ depth: Int) throws {
    let file = try ScratchFile()
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + """
        a = noise(20, 10, 1, 8)
        whole = tiff(a, 8, 1, more={\(tag): (4, [0x12345678])})
        at = len(whole)
        inner = b''.join(directory({\(tag): (4, [at + 18 * (n + 1)])}, 0) for n in range(\(depth)))
        end = directory({256: (3, [1])}, 0)
        open(sys.argv[1], 'wb').write(whole.replace(struct.pack('<I', 0x12345678), struct.pack('<I', at)) + inner + end)
        """, [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    #expect(try fixture.code(of: bytes) == nil)
    try file.write(bytes)
    for policy in MetadataPolicy.allCases {
      let (copy, copied) = try file.copied(policy)
      #expect(copy.hasUnreadableMetadata == (depth > 10 && policy != .all))
      try file.write(copied)
      #expect(try file.copied(policy).copy.isWholeFile)
      try file.write(bytes)
    }
  }

  @Test("a picture is turned as its file says", arguments: 1...8)
  func orientation(_ number: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + """
        from PIL import ImageOps
        path = sys.argv[1]
        open(path, 'wb').write(tiff(noise(20, 10, 3, 8), 8, 2, more={274: (3, [\(number)])}))
        """, [fixture.folder.file("in")])
    let result = try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(metadata: .all))
    #expect(result.source.size == PictureSize(width: 20, height: 10))
    let printed = try PassFixture.python(
      """
      from PIL import ImageOps
      a, b = Image.open(sys.argv[1]), Image.open(sys.argv[2])
      assert b.getexif().get(0x112, 1) == 1
      a = ImageOps.exif_transpose(a)
      print(a.size == b.size and (np.asarray(a) == np.asarray(b)).all())
      """, [fixture.folder.file("in"), fixture.folder.file("out")])
    #expect(printed == "True")
  }

  @Test("profile, density, EXIF, IPTC and XMP go into the result, as the policy says", arguments: ["<", ">"])
  func metadata(_ order: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders + Self.made + "open(sys.argv[1], 'wb').write(rich('\(order)', orientation=1))",
      [fixture.folder.file("in")])
    for (policy, expected) in [
      (MetadataPolicy.none, "True [144, 72] None None None None 0 False"),
      (.copyright, "True [144, 72] Ada None None None 0 True"),
      (.all, "True [144, 72] Ada Kodak 2001:01:01 00:00:00 N 1 True"),
    ] {
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file("out"),
        options: OutputOptions(format: .jpeg, metadata: policy))
      let printed = try PassFixture.python(
        """
        i = Image.open(sys.argv[1])
        e = i.getexif()
        data = open(sys.argv[1], 'rb').read()
        print('icc_profile' in i.info, [round(d) for d in i.info['dpi']], e.get(315), e.get(271), e.get_ifd(34665).get(36867),
              e.get_ifd(34853).get(1), data.count(b'<x:xmpmeta'), b'\\x1c\\x02\\x50\\0\\3Ada' in data)
        """, [fixture.folder.file("out")])
      #expect(printed == expected, "\(policy)")
    }
  }

  @Test("the orientation, artist and copyright are kept however large other metadata is")
  func large() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + """
        a = noise(20, 10, 3, 8)
        for name, profile, text in [('a', 3 << 20, 3 << 20), ('b', 4 << 20, 9), ('c', 9, (4 << 20) - 1), ('d', (4 << 20) - 9, 9)]:
            more = {274: (3, [6]), 270: (2, b'x' * (text - 1) + b'\\0'), 315: (2, b'Ada L.\\0'), 34675: (7, bytes(profile))}
            open(f'{sys.argv[1]}/{name}', 'wb').write(tiff(a, 8, 2, more=more))
        """, [fixture.folder.path])
    for (name, artist) in [("a", "Ada L."), ("b", "None"), ("c", "Ada L."), ("d", "None")] {
      let result = try fixture.pass(
        fixture.folder.file(name), to: fixture.folder.file("out"), options: OutputOptions(metadata: .copyright))
      #expect(result.output.size == PictureSize(width: 10, height: 20), "\(name)")
      let printed = try PassFixture.python(
        "print(Image.open(sys.argv[1]).getexif().get(315))", [fixture.folder.file("out")])
      #expect(printed == artist, "\(name)")
    }
  }

  @Test("the orientation may be a number of any size", arguments: [1, 3, 4, 16])
  func orientationTypes(_ type: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + "open(sys.argv[1], 'wb').write(tiff(noise(20, 10, 3, 8), 8, 2, more={274: (\(type), [6])}, big=True))",
      [fixture.folder.file("in")])
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    #expect(result.output.size == PictureSize(width: 10, height: 20))
  }
}
