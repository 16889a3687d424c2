import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct HEIFTests {
  /// Makes AVIF with Pillow (libavif) and avifenc, HEIC with pillow-heif (x265).
  static let encoders = """
    import subprocess
    from PIL import ImageOps
    import pillow_heif
    pillow_heif.register_heif_opener()

    def picture(w, h):
        return Image.open(f'{sys.argv[2]}/chelsea.jpg').resize((w, h), Image.BICUBIC)

    def alpha(p):
        p = p.copy()
        p.putalpha(Image.linear_gradient('L').resize(p.size))
        return p

    def avifenc(p, path, *words):
        p.save(path + '.png')
        subprocess.run(['avifenc', '-s', '9', *words, path + '.png', path], check=True, stdout=subprocess.DEVNULL)

    """

  struct Kind: Sendable, CustomTestStringConvertible {
    let name: String
    /// Saves `p` at `path`.
    let script: String
    /// The largest and the mean difference of a sample from what was encoded.
    var bound = (most: 40, mean: 3.0)

    var testDescription: String { name }
    var format: ImageFormat { name.hasPrefix("AVIF") ? .avif : .heic }
  }

  static let kinds = [
    Kind(name: "AVIF 4:2:0", script: "p.save(path, quality=95)", bound: (60, 3)),
    Kind(name: "AVIF 4:2:2", script: "p.save(path, quality=95, subsampling='4:2:2')", bound: (60, 3)),
    Kind(name: "AVIF 4:4:4", script: "p.save(path, quality=95, subsampling='4:4:4')"),
    Kind(name: "AVIF lossless", script: "avifenc(p, path, '--lossless')", bound: (0, 0)),
    Kind(
      name: "AVIF limited range", script: "p.save(path, quality=95, subsampling='4:4:4', range='limited')"),
    Kind(name: "AVIF grey", script: "p = p.convert('L'); p.save(path, quality=95, subsampling='4:0:0')"),
    Kind(name: "AVIF alpha", script: "p = alpha(p); p.save(path, quality=95, subsampling='4:4:4')"),
    Kind(
      name: "AVIF premultiplied",
      script: "p = alpha(p); avifenc(p, path, '-p', '-y', '444', '--min', '0', '--max', '10')",
      bound: (255, 4)),
    Kind(name: "AVIF 10 bits", script: "avifenc(p, path, '-d', '10', '-y', '444', '--min', '0', '--max', '10')"),
    Kind(name: "AVIF 12 bits", script: "avifenc(p, path, '-d', '12', '-y', '444', '--min', '0', '--max', '10')"),
    Kind(name: "HEIC 4:2:0", script: "p.save(path, quality=95)", bound: (60, 3)),
    Kind(name: "HEIC 4:4:4", script: "p.save(path, quality=95, chroma=444)"),
    Kind(name: "HEIC grey", script: "p = p.convert('L'); p.save(path, quality=95)"),
    Kind(name: "HEIC alpha", script: "p = alpha(p); p.save(path, quality=95, chroma=444)"),
    Kind(
      name: "HEIC 10 bits",
      script: """
        deep = np.asarray(p).astype('<u2') * 257
        pillow_heif.encode('RGB;16', p.size, deep.tobytes(), path, format='HEIF', quality=95, chroma=444)
        """),
  ]

  @Test("what encoders of others have written is read, in every size, depth and chroma sampling", arguments: kinds)
  func decoded(_ kind: Kind) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        for w, h in [(1, 1), (2, 3), (64, 64), (65, 33), (301, 200)]:
            path = f'{sys.argv[1]}/{w}x{h}.\(kind.format)'
            p = picture(w, h)
            \(kind.script.replacing("\n", with: "\n    "))
            p.save(path + '.png')
            print(path.split('/')[-1])
        """, [fixture.folder.path, packageRoot + "/Samples"]
    ).split(separator: "\n").map(String.init)
    #expect(names.count == 5)
    for name in names {
      let result = try fixture.pass(
        fixture.folder.file(name), to: fixture.folder.file(name + ".out"), options: OutputOptions(format: .png))
      #expect(result.source.format == kind.format)
    }
    let printed = try PassFixture.python(
      """
      import glob
      for result in sorted(glob.glob(sys.argv[1] + '/*.out')):
          a, b = Image.open(result[:-3] + 'png'), Image.open(result)
          assert a.size == b.size and (a.mode == 'RGBA') == (b.mode == 'RGBA'), (result, a.mode, b.mode)
          a, b = (np.asarray(i.convert('RGBA')).astype(int) for i in (a, b))
          # The colours of what can hardly be seen do not matter.
          d = np.abs(a - b)[a[..., 3] > 16]
          assert not d.size or d.max() <= \(kind.bound.most) and d.mean() <= \(kind.bound.mean), (result, d.max(), d.mean())
      print('near')
      """, [fixture.folder.path])
    #expect(printed == "near")
  }

  @Test(
    "chroma of half the size is interpolated, as Pillow and browsers do by libavif",
    arguments: [
      ("p.save(path, quality=100)", 2), ("p.save(path, quality=100, subsampling='4:2:2')", 2),
      // Pillow's own conversion to 8 bits is up to 3 off.
      ("avifenc(p, path, '-y', '420', '-d', '10')", 4),
    ])
  func interpolatedChroma(_ script: String, bound: Int) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        noise = np.random.default_rng(1)
        for w, h in [(1, 1), (2, 3), (3, 2), (64, 64), (65, 33)]:
            path, p = f'{sys.argv[1]}/{w}x{h}.avif', Image.fromarray(noise.integers(0, 256, (h, w, 3), 'u1'))
            \(script)
            Image.open(path).save(path + '.png')
            print(path.split('/')[-1])
        """, [fixture.folder.path, packageRoot + "/Samples"]
    ).split(separator: "\n").map(String.init)
    #expect(names.count == 5)
    for name in names {
      let (file, result) = (fixture.folder.file(name), fixture.folder.file(name + ".out"))
      try fixture.pass(file, to: result, options: OutputOptions(format: .png))
      let difference = try PassFixture.python(
        """
        a, b = (np.asarray(Image.open(path).convert('RGB')).astype(int) for path in sys.argv[1:3])
        print(np.abs(a - b).max())
        """, [file + ".png", result])
      #expect(try #require(Int(difference)) <= bound, "\(name)")
    }
  }

  @Test(
    "chroma is interpolated between the samples of HEIC, and of a grid",
    arguments: [
      "p.save(path, quality=100)", "avifenc(p, path, '-y', '420', '--min', '0', '--max', '0', '--grid', '2x1')",
    ])
  func gradient(_ script: String) throws {
    let fixture = try PassFixture()
    let (file, result) = (
      fixture.folder.file("in.\(script.hasPrefix("avif") ? "avif" : "heic")"), fixture.folder.file("out")
    )
    _ = try PassFixture.python(
      Self.encoders
        + """
        path, ramp = sys.argv[1], np.tile(np.abs(np.arange(128) * 4 - 254).astype('u1'), (64, 1))
        p = Image.fromarray(np.stack([ramp, 0 * ramp + 128, 254 - ramp], axis=2))
        \(script)
        p.save(path + '.png')
        """, [file, packageRoot + "/Samples"])
    try fixture.pass(file, to: result, options: OutputOptions(format: .png))
    let difference = try PassFixture.python(
      """
      a, b = (np.asarray(Image.open(path).convert('RGB')).astype(int) for path in sys.argv[1:3])
      # Without the ends of the ramps, which have no neighbour.
      print(np.abs(a - b)[2:-2, [*range(4, 60), *range(68, 124)]].max())
      """, [file + ".png", result])
    // Samples that are repeated are 4 off.
    #expect(try #require(Int(difference)) <= 3)
  }

  @Test("a picture is turned as its file says, whatever its EXIF says", arguments: ["avif", "heic"])
  func orientation(_ format: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        for o in range(1, 9):
            e = Image.Exif()
            e[0x112] = o
            p = picture(96, 64)
            p.save(f'{sys.argv[1]}/{o}.\(format)', exif=e.tobytes(), quality=95)
            p.getexif()[0x112] = o
            ImageOps.exif_transpose(p).save(f'{sys.argv[1]}/{o}.png')
        """, [fixture.folder.path, packageRoot + "/Samples"])
    for index in 1...8 {
      let result = try fixture.pass(
        fixture.folder.file("\(index).\(format)"), to: fixture.folder.file("\(index).out"),
        options: OutputOptions(format: .jpeg, quality: 95, metadata: .all))
      #expect(result.source.size == PictureSize(width: index > 4 ? 64 : 96, height: index > 4 ? 96 : 64))
    }
    let printed = try PassFixture.python(
      """
      for o in range(1, 9):
          a, b = (Image.open(f'{sys.argv[1]}/{o}.{kind}') for kind in ('png', 'out'))
          assert b.getexif().get(0x112, 1) == 1, o
          d = np.abs(np.asarray(a.convert('RGB')).astype(int) - np.asarray(b))
          assert a.size == b.size and d.mean() < 4, (o, a.size, b.size, d.mean())
      print('upright')
      """, [fixture.folder.path])
    #expect(printed == "upright")
  }

  @Test func `a grid is one picture, also when it is cropped and turned`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        p = picture(256, 128)
        avifenc(p, f'{sys.argv[1]}/grid.avif', '--grid', '2x1', '-y', '444', '--min', '0', '--max', '10')
        avifenc(p, f'{sys.argv[1]}/turned.avif', '--irot', '1', '-y', '444', '--min', '0', '--max', '10',
                '--clap', '100,1,60,1,10,1,0,1')
        """, [fixture.folder.path, packageRoot + "/Samples"])
    for name in ["grid", "turned"] {
      try fixture.pass(
        fixture.folder.file(name + ".avif"), to: fixture.folder.file(name + ".out"),
        options: OutputOptions(format: .png))
    }
    let printed = try PassFixture.python(
      """
      a = np.asarray(Image.open(f'{sys.argv[1]}/grid.avif.png').convert('RGB')).astype(int)
      b = np.asarray(Image.open(f'{sys.argv[1]}/grid.out')).astype(int)
      c = np.asarray(Image.open(f'{sys.argv[1]}/turned.out')).astype(int)
      # 100 × 60 of 256 × 128, 10 to the right of the middle, then a quarter to the left.
      cropped = np.rot90(a[34:94, 88:188])
      assert c.shape == cropped.shape, c.shape
      assert np.abs(a - b).mean() < 3 and np.abs(c - cropped).mean() < 3, (np.abs(a - b).mean(), np.abs(c - cropped).mean())
      print('near')
      """, [fixture.folder.path])
    #expect(printed == "near")
  }

  @Test("without a colour box the colours are those that AV1 says", arguments: ["12/13/0", "9/8/0", "1/13/0", "2/2/0"])
  func withoutColourBox(_ numbers: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        path = f'{sys.argv[1]}/boxed.avif'
        avifenc(picture(64, 64), path, '--cicp', '\(numbers)', '--lossless')
        data = open(path, 'rb').read()
        assert data.count(b'colrnclx') == 1
        open(f'{sys.argv[1]}/plain.avif', 'wb').write(data.replace(b'colrnclx', b'freenclx'))
        """, [fixture.folder.path, packageRoot + "/Samples"])
    for name in ["boxed", "plain"] {
      try fixture.pass(
        fixture.folder.file(name + ".avif"), to: fixture.folder.file(name), options: OutputOptions(format: .png))
    }
    #expect(try PassFixture.bytes(fixture.folder.file("boxed")) == PassFixture.bytes(fixture.folder.file("plain")))
  }

  @Test func `colours that numbers describe are shown as they are meant`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        avifenc(Image.new('RGB', (64, 64), (200, 100, 80)), f'{sys.argv[1]}/p3.avif', '--cicp', '12/13/0', '--lossless')
        """, [fixture.folder.path, packageRoot + "/Samples"])
    try fixture.pass(
      fixture.folder.file("p3.avif"), to: fixture.folder.file("shown"),
      options: OutputOptions(format: .png))
    let printed = try PassFixture.python(
      """
      i = Image.open(f'{sys.argv[1]}/shown')
      assert 'icc_profile' not in i.info
      def linear(v): return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
      # Display P3 to sRGB, both of the white D65.
      m = np.array([[1.2249, -0.2247, 0], [-0.0420, 1.0419, 0], [-0.0197, -0.0786, 1.0979]])
      v = m @ linear(np.array([200, 100, 80]) / 255)
      expected = 255 * np.where(v <= 0.0031308, v * 12.92, 1.055 * np.abs(v) ** (1 / 2.4) - 0.055)
      d = np.abs(np.asarray(i)[0, 0] - expected).max()
      print('near' if d < 2 else d)
      """, [fixture.folder.path])
    #expect(printed == "near")
    #expect(CICPColour(primaries: 1, transfer: 13).profile == nil)
  }

  @Test("a copy keeps the coded picture, and of the metadata what is asked for", arguments: ["avif", "heic"])
  func copied(_ format: String) throws {
    let fixture = try PassFixture()
    let source = fixture.folder.file("source")
    _ = try PassFixture.python(
      Self.encoders
        + """
        e = Image.Exif()
        e[0x13B], e[0x10F], e[0x8298] = 'Ada', 'Kodak', '(c) Ada'
        picture(64, 48).save(sys.argv[1], '\(format == "avif" ? "AVIF" : "HEIF")', exif=e.tobytes(),
            xmp=b'<x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET</x:xmpmeta>')
        open(sys.argv[1], 'ab').write(struct.pack('>I', 24) + b'uuid' + b'UUID_UUID_UUID_U')
        """, [source, packageRoot + "/Samples"])
    let file = try ScratchFile()
    for policy in MetadataPolicy.allCases {
      try file.write(try PassFixture.bytes(source))
      let (parts, bytes) = try file.copied(policy)
      let copy = try fixture.write(bytes, as: "\(policy)")
      #expect(try fixture.pass(copy, to: fixture.folder.file("out")).source == parts.info)
      try file.write(bytes)
      #expect(try file.copied(policy).copy.isWholeFile)
      let printed = try PassFixture.python(
        """
        import pillow_heif
        pillow_heif.register_heif_opener()
        a, b = (Image.open(p) for p in sys.argv[1:3])
        assert (np.asarray(a) == np.asarray(b)).all()
        data = open(sys.argv[2], 'rb').read()
        e = b.getexif()
        print(e.get(0x13B), e.get(0x10F), e.get(0x8298), b'SECRET' in data, b'Kodak' in data, b'UUID' in data)
        """, [source, copy])
      let expected = [
        MetadataPolicy.none: "None None None False False False",
        .copyright: "Ada None (c) Ada False False False", .all: "Ada Kodak (c) Ada True True True",
      ]
      #expect(printed == expected[policy], "\(policy)")
    }
  }

  @Test func `damage and hostile boxes have their codes`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        p = picture(128, 64)
        avifenc(p, f'{sys.argv[1]}/grid', '--grid', '2x1')
        e = Image.Exif()
        e[0x13B] = 'Ada'
        p.save(f'{sys.argv[1]}/avif', 'AVIF', exif=e.tobytes(), xmp=b'<x/>')
        p.save(f'{sys.argv[1]}/heic', 'HEIF', exif=e.tobytes(), xmp=b'<x/>')
        """, [fixture.folder.path, packageRoot + "/Samples"])
    for name in ["avif", "heic", "grid"] {
      let bytes = try PassFixture.bytes(fixture.folder.file(name))
      #expect(try fixture.code(of: bytes) == nil)
      // Cut off anywhere after the signature.
      for count in stride(from: 12, to: bytes.count, by: max(bytes.count / 40, 1)) {
        #expect(try fixture.code(of: bytes[..<count]) == .imageTruncated, "\(name) of \(count) bytes")
      }
      let size = Array("ispe".utf8) + [0, 0, 0, 0]
      let start = try #require(Data(bytes).range(of: Data(size))).upperBound
      for (sides, code) in [
        ([0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60], ImagingError.Code.imageTooLarge),
        ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .imageTooLarge),
        ([0, 0, 0, 0, 0, 0, 0, 1], .imageCorrupt), ([0, 0, 0, 9, 0, 0, 0, 9], .imageCorrupt),
      ] {
        var changed = bytes
        // Of a grid the size of the whole comes first.
        changed.replaceSubrange(start..<(start + 8), with: sides.map(UInt8.init))
        #expect(try fixture.code(of: changed) == code, "\(name) \(sides)")
      }
      // Coded data that are none.
      let data = try #require(Data(bytes).range(of: Data("mdat".utf8))).upperBound
      let noise = bytes[..<data] + bytes[data...].indices.map { UInt8(truncatingIfNeeded: $0 &* 167) }
      #expect(try fixture.code(of: noise) == .imageCorrupt, "\(name) of noise")
      // No box of a wrong size, and no property, item or reference of a wrong number, is more than an error. libheif, which may
      // crash, is not asked.
      var random = SystemRandomNumberGenerator()
      let file = try ScratchFile()
      for _ in 0..<300 {
        var changed = bytes
        for _ in 0..<4 { changed[Int.random(in: 12..<data, using: &random)] = UInt8.random(in: 0...255) }
        try file.write(changed)
        for policy in MetadataPolicy.allCases { _ = try? file.copied(policy) }
      }
    }
    // A film.
    let film: [UInt8] = [0, 0, 0, 16] + Array("ftypavis".utf8) + [0, 0, 0, 0, 0, 0, 0, 8] + Array("moov".utf8)
    #expect(try fixture.code(of: film) == .unsupportedFormat)
  }

  /// Takes files apart and puts them together again.
  private static let surgery = """
    def boxes(data):
        at = 0
        while at < len(data):
            size = struct.unpack('>I', data[at:at + 4])[0]
            yield data[at + 4:at + 8], data[at + 8:at + size]
            at += size

    def box(kind, content):
        return struct.pack('>I', 8 + len(content)) + kind + content

    def meta(data, change):
        parts = list(boxes(data))
        return b''.join(box(k, c[:4] + b''.join(box(*b) for b in change(list(boxes(c[4:])))) if k == b'meta' else c)
                        for k, c in parts)

    def twice(kind):
        return lambda list: list + [b for b in list if b[0] == kind]

    def last(kind):
        return lambda list: [b for b in list if b[0] != kind] + [b for b in list if b[0] == kind]

    """

  @Test(
    "what could be read in two ways is an error, and the order of boxes does not matter",
    arguments: [
      ("data + b''.join(box(k, c) for k, c in boxes(data) if k == b'meta')", ImagingError.Code?.some(.imageCorrupt)),
      ("meta(data, twice(b'pitm'))", .imageCorrupt), ("meta(data, twice(b'iinf'))", .imageCorrupt),
      ("meta(data, twice(b'iloc'))", .imageCorrupt), ("meta(data, twice(b'iref'))", .imageCorrupt),
      ("meta(data, twice(b'iprp'))", .imageCorrupt), ("meta(data, last(b'iinf'))", nil),
      ("meta(data, last(b'pitm'))", nil), ("meta(data, last(b'iprp'))", nil), ("meta(data, last(b'iloc'))", nil),
      // Two entries for one item.
      ("data.replace(b'infe\\2\\0\\0\\0\\0\\2', b'infe\\2\\0\\0\\0\\0\\1')", .imageCorrupt),
      // Alpha that is a grid, a picture made of another one, and a kind of picture that is not known.
      ("data.replace(b'\\0\\2\\0\\0av01', b'\\0\\2\\0\\0grid')", .imageCorrupt),
      ("data.replace(b'\\0\\1\\0\\0av01', b'\\0\\1\\0\\0iden')", .unsupportedFormat),
      ("data.replace(b'\\0\\1\\0\\0av01', b'\\0\\1\\0\\0xyzw')", .unsupportedFormat),
    ])
  func readOnce(_ script: String, _ code: ImagingError.Code?) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders + Self.surgery
        + """
        alpha(picture(64, 48)).save(sys.argv[1], 'AVIF', quality=90)
        data = open(sys.argv[1], 'rb').read()
        changed = \(script)
        assert changed != data or '\(script)'.startswith('meta(data, last')
        open(sys.argv[1], 'wb').write(changed)
        """.replacing("'\(script)'", with: "r\"\"\"\(script)\"\"\""),
      [fixture.folder.file("in"), packageRoot + "/Samples"])
    #expect(try fixture.code(of: PassFixture.bytes(fixture.folder.file("in"))) == code)
  }

  @Test func `a grid may be smaller than one of its pictures, and says of itself what its properties say`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        avifenc(picture(128, 64), f'{sys.argv[1]}/grid', '--grid', '2x1')
        data = open(f'{sys.argv[1]}/grid', 'rb').read()
        grid, size = bytes([0, 0, 0, 1, 0, 128, 0, 64]), struct.pack('>II', 128, 64)
        assert data.count(grid) == 1 and data.count(size) == 1
        header = lambda w, h, n=1: data.replace(grid, bytes([0, 0, 0, n]) + struct.pack('>HH', w, h))
        open(f'{sys.argv[1]}/small', 'wb').write(header(70, 40).replace(size, struct.pack('>II', 70, 40)))
        open(f'{sys.argv[1]}/other', 'wb').write(header(70, 40))
        open(f'{sys.argv[1]}/large', 'wb').write(header(65535, 65535))
        open(f'{sys.argv[1]}/more', 'wb').write(header(128, 64, 2))
        at = data.index(b'dimg')
        open(f'{sys.argv[1]}/loop', 'wb').write(data[:at + 8] + data[at + 4:at + 6] + data[at + 10:])
        """, [fixture.folder.path, packageRoot + "/Samples"])
    let result = try fixture.pass(fixture.folder.file("small"), to: fixture.folder.file("out"))
    #expect(result.source.size == PictureSize(width: 70, height: 40))
    for name in ["other", "large", "more"] {
      #expect(try fixture.code(of: PassFixture.bytes(fixture.folder.file(name))) == .imageCorrupt, "\(name)")
    }
    #expect(try fixture.code(of: PassFixture.bytes(fixture.folder.file("loop"))) == .unsupportedFormat)
  }

  @Test("bytes after the picture are left out of copies, and so is what boxes have that are no pictures")
  func trailers() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders + "picture(64, 48).save(sys.argv[1], 'HEIF')",
      [fixture.folder.file("in"), packageRoot + "/Samples"])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    func box(_ type: String, _ content: String) -> [UInt8] {
      [UInt8](bigEndian: 8 + content.utf8.count, count: 4) + Array((type + content).utf8)
    }
    let file = try ScratchFile()
    for policy in MetadataPolicy.allCases {
      for trailer in [
        Array("PK\u{3}\u{4}SECRET_SECRET".utf8), [0, 0, 0, 5, 1, 2, 3, 4, 5], box("mpvd", "SECRET"), [0],
      ] {
        try file.write(bytes + trailer)
        #expect(try file.copied(policy).bytes == bytes)
      }
      // Between boxes that are kept it is overwritten.
      try file.write(bytes + box("skip", "SECRET") + box("mdat", ""))
      let copied = try file.copied(policy).bytes
      #expect(copied.count == bytes.count + 14 + 8)
      #expect((Data(copied).range(of: Data("SECRET".utf8)) == nil) == (policy != .all))
    }
  }

  @Test func `metadata that is said to be where nothing is costs no time and no memory`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders
        + """
        e = Image.Exif()
        e[0x13B] = 'Ada'
        picture(64, 48).save(sys.argv[1], 'AVIF', exif=e.tobytes())
        data = open(sys.argv[1], 'rb').read()
        count = len(e.tobytes())
        for length in range(count - 10, count + 10):
            data = data.replace(struct.pack('>I', length), b'\\xff\\xff\\xff\\xf0')
        assert b'\\xff\\xff\\xff\\xf0' in data
        open(sys.argv[1], 'wb').write(data)
        """, [fixture.folder.file("in"), packageRoot + "/Samples"])
    let file = try ScratchFile()
    try file.write(try PassFixture.bytes(fixture.folder.file("in")))
    for policy in MetadataPolicy.allCases {
      #expect(throws: ImagingError.self) { try file.copied(policy) }
    }
  }

  @Test func `a few damaged bytes of a HEIC are an error`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.encoders + "picture(512, 512).save(sys.argv[1], 'HEIF', quality=90)",
      [fixture.folder.file("in"), packageRoot + "/Samples"])
    var bytes = try PassFixture.bytes(fixture.folder.file("in"))
    #expect(try fixture.code(of: bytes) == nil)
    for index in 0..<200 { bytes[bytes.count / 2 + index] = UInt8(truncatingIfNeeded: index &* 89) }
    #expect(try fixture.code(of: bytes) == .imageCorrupt)
  }
}
