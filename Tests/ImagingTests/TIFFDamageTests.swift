import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct TIFFDamageTests {
  /// Makes a file of 20 × 10 pixels in grey, with fields as a case changes them.
  private static let made = """
    A = noise(20, 10, 1, 8).astype('u1')

    def file(**more):
        return tiff(A, 8, 1, more={int(tag[1:]): value for tag, value in more.items()})

    def compressed(data, kind, a=A, **more):
        at = 8 + len(data) + len(data) % 2
        fields = {**fields_of(a, 8, 1), 259: (3, [kind]), 273: (4, [8]), 279: (4, [len(data)])}
        fields.update({int(tag[1:]): value for tag, value in more.items()})
        fields = {tag: value for tag, value in fields.items() if value is not None}
        return header('<', False, at) + data.ljust(at - 8, b'\\0') + directory(fields, at)

    def pages(count, next=0):
        fields = {**fields_of(A, 8, 1), 273: (4, [8]), 279: (4, [200])}
        at, size = 208, len(directory(fields, 0))
        return (header('<', False, at) + A.tobytes()
                + b''.join(directory(fields, at + n * size, next if n == count - 1 else at + (n + 1) * size)
                           for n in range(count)))

    """

  @Test(
    "a damaged or hostile file fails with its reason",
    arguments: [
      ("file()", ImagingError.Code?.none),
      // Sizes.
      ("file(_256=(4, [60000]), _257=(4, [60000]))", .imageTooLarge),
      ("file(_256=(4, [0xffffffff]), _257=(4, [0xffffffff]))", .imageTooLarge),
      ("file(_256=(16, [1 << 62]), _257=(16, [1 << 62]))", .imageTooLarge),
      ("file(_256=(4, [0]))", .imageCorrupt), ("file(_256=None)", .imageCorrupt),
      ("file(_257=(2, b'10'))", .imageCorrupt),
      ("file(_257=(4, [1000]), _278=(4, [1000]))", .imageTruncated),
      // Directories.
      ("header('<', False, 9999)", .imageTruncated), ("header('<', False, 4) + bytes(20)", .imageCorrupt),
      ("header('<', False, 8) + bytes(20)", .imageCorrupt), ("header('<')[:7]", .imageTruncated),
      ("b'II*\\0' + bytes(8)", .imageCorrupt), ("header('<', True)[:15]", .imageTruncated),
      ("header('<', True, 1 << 63) + bytes(99)", .imageTruncated),
      ("header('<', True, 16) + struct.pack('<Q', 1 << 62) + bytes(99)", .imageCorrupt),
      ("header('<', False, 8) + b'\\xff\\xff' + bytes(99)", .imageTruncated),
      ("pages(3, 208)", nil), ("pages(1, 208)", nil), ("pages(2, 0xfffffff0)", nil),
      ("pages(2)[:-20]", nil), ("pages(20_000)", nil), ("pages(100_001)", .imageCorrupt),
      // Strips.
      ("file(_273=(4, [0xfffffff0]))", .imageTruncated), ("file(_273=None)", .imageCorrupt),
      ("file(_278=(4, [1]))", .imageCorrupt), ("file(_278=(4, [0]))", .imageCorrupt), ("file(_279=(4, [0]))", nil),
      ("file(_278=(4, [0xffffffff]))", nil), ("file(_277=(3, [0]))", .imageCorrupt),
      ("file(_277=(3, [2]))", .imageTruncated), ("file(_277=(3, [33]))", .unsupportedFormat),
      ("file(_322=(4, [16]))", .imageCorrupt), ("file(_322=(4, [16]), _323=(4, [0]))", .imageCorrupt),
      ("file(_322=(4, [1 << 31]), _323=(4, [1 << 31]))", .imageTooLarge),
      ("file(_322=(4, [900_000]), _323=(4, [900_000]))", .imageTruncated),
      ("file(_256=(4, [4000]), _257=(4, [4000]), _322=(4, [1]), _323=(4, [1]))", .imageCorrupt),
      // Kinds.
      ("file(_258=(3, [32]))", .unsupportedFormat), ("file(_258=(3, [0]))", .unsupportedFormat),
      ("file(_258=(3, [32]), _339=(3, [3]))", .unsupportedFormat), ("file(_339=(3, [2]))", .unsupportedFormat),
      ("file(_262=(3, [6]))", .unsupportedFormat), ("file(_262=(3, [8]))", .unsupportedFormat),
      ("file(_262=(3, [2]))", .imageCorrupt), ("file(_262=(3, [3]))", .imageCorrupt),
      ("file(_262=None)", .imageCorrupt),
      ("file(_284=(3, [3]))", .imageCorrupt), ("file(_259=(3, [6]))", .unsupportedFormat),
      ("file(_259=(3, [34661]))", .unsupportedFormat), ("file(_259=(3, [4]))", .unsupportedFormat),
      ("file(_254=(4, [1]), _330=(4, [8]))", .unsupportedFormat),
      // Data.
      ("compressed(zlib.compress(A.tobytes()), 8)", nil), ("compressed(zlib.compress(A.tobytes()), 8, _279=None)", nil),
      ("compressed(zlib.compress(A.tobytes())[:-30], 8)", .imageCorrupt),
      ("compressed(zlib.compress(A.tobytes()), 5)", .imageCorrupt), ("compressed(b'', 8)", .imageCorrupt),
      ("compressed(bytes(99), 50000)", .imageCorrupt), ("compressed(bytes(99), 34925)", .imageCorrupt),
      ("compressed(bytes(99), 7)", .imageCorrupt), ("compressed(bytes(99), 32773)", .imageCorrupt),
      ("compressed(bytes(99), 4, _258=(3, [1]))", .imageCorrupt),
      ("compressed(bytes(99), 3, _258=(3, [1]))", .imageCorrupt),
      ("compressed(zlib.compress(A.tobytes()), 8, _317=(3, [9]))", .imageCorrupt),
      ("compressed(zlib.compress(A.tobytes()), 8, _266=(3, [9]))", .imageCorrupt),
      // A strip that becomes more than the picture.
      ("compressed(zlib.compress(bytes(50_000_000)), 8)", nil),
    ])
  func damaged(_ file: String, _ code: ImagingError.Code?) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders + Self.made + "open(sys.argv[1], 'wb').write(\(file))", [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    let error = try fixture.error(of: bytes)
    #expect(error?.code == code, "\(error.map(String.init(describing:)) ?? "")")
  }

  @Test func `a picture that is held whole is limited in bytes, one of rows is not`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + """
        a = noise(600, 500, 3, 8)
        open(f'{sys.argv[1]}/rows', 'wb').write(tiff(a, 8, 2))
        run('tiffcp', '-p', 'separate', '-c', 'zip', '-r', '500', f'{sys.argv[1]}/rows', f'{sys.argv[1]}/planes')
        run('tiffcp', '-t', '-w', '608', '-l', '512', f'{sys.argv[1]}/rows', f'{sys.argv[1]}/tile')
        run('tiffcp', '-c', 'zip', '-r', '500', f'{sys.argv[1]}/rows', f'{sys.argv[1]}/deflate')
        """, [fixture.folder.path])
    for (name, bytes) in [("rows", 70_000), ("planes", 1_520_000), ("tile", 2_830_000), ("deflate", 910_000)] {
      let file = try PassFixture.bytes(fixture.folder.file(name))
      let isHeld = name != "rows"
      let low = ImageLimits.confined(budget: isHeld ? bytes * 9 / 10 : 1000)
      let error = try fixture.error(of: file, limits: low)
      #expect(error?.code == .imageTooLarge, "\(name) \(error?.message ?? "")")
      let other = try fixture.error(of: file, limits: .confined(budget: bytes * 11 / 10))
      #expect(other == nil, "\(name) \(other?.message ?? "")")
    }
  }

  @Test func `a file that ends early, and one with a few wrong bytes, is no crash, and as much for a copy`() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      TIFFTests.encoders
        + """
        a = noise(40, 30, 3, 8)
        path = f'{sys.argv[1]}/rows'
        open(path, 'wb').write(tiff(a, 8, 2))
        for name, way in [('tiles', '-t -w 16 -l 16 -c lzw'), ('jpeg', '-c jpeg:r'), ('planes', '-p separate -c zip -r 7'),
                          ('zstd', '-c zstd -8')]:
            run('tiffcp', *way.split(), path, f'{sys.argv[1]}/{name}')
        """, [fixture.folder.path])
    let file = try ScratchFile()
    var random = SystemRandomNumberGenerator()
    for name in ["rows", "tiles", "jpeg", "planes", "zstd"] {
      let bytes = try PassFixture.bytes(fixture.folder.file(name))
      #expect(try fixture.code(of: bytes) == nil, "\(name)")
      for count in stride(from: 8, to: bytes.count, by: max(bytes.count / 40, 1)) {
        #expect(try fixture.code(of: bytes[..<count]) == .imageTruncated, "\(name) of \(count) bytes")
      }
      for _ in 0..<200 {
        var changed = bytes
        // Most of the fields are at the end.
        for _ in 0..<3 {
          changed[Int.random(in: (Bool.random() ? 4 : bytes.count - 400)..<bytes.count, using: &random)] =
            UInt8.random(in: 0...255)
        }
        let code = try fixture.code(of: changed)
        try file.write(changed)
        for policy in MetadataPolicy.allCases {
          do {
            let (copy, bytes) = try file.copied(policy)
            try file.write(bytes)
            let again = try file.copied(policy).copy
            #expect(again.isWholeFile && again.info == copy.info, "\(name)")
            try file.write(changed)
          } catch let error as ImagingError {
            #expect(error.code == code, "\(name) \(error)")
          }
        }
      }
    }
  }

  /// Each page has the same tables of its strips, and fields that say where more directories are.
  @Test(arguments: ["4, 1000, 700, 0", "1, 1000, 5000, 0", "1, 100, 60, 50_000"])
  func `pages that share values are copied within bounds`(_ numbers: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      import struct, sys
      size, strips, pages, others = \(numbers)
      form = {1: 'B', 4: 'I'}[size]
      head = 8 + strips + 2 * size * strips + 4 * others
      fields = [(256, 4, 1, 8), (257, 4, 1, strips), (258, 3, 1, 1), (259, 3, 1, 1), (262, 3, 1, 1),
                (273, {1: 1, 4: 4}[size], strips, 8 + strips), (277, 3, 1, 1), (278, 4, 1, 1),
                (279, {1: 1, 4: 4}[size], strips, 8 + strips + size * strips)]
      fields += [(40_000 + n, 13, others, head - 4 * others) for n in range(40 if others else 0)]
      length = 2 + 12 * len(fields) + 4
      file = struct.pack('<2sHI', b'II', 42, head) + bytes(strips)
      file += struct.pack(f'<{strips}{form}', *[8 + n % 200 for n in range(strips)]) + struct.pack(f'<{strips}{form}', *[1] * strips)
      file += struct.pack(f'<{others}I', *[0x7000_0000 + n for n in range(others)])
      for page in range(pages):
          file += struct.pack('<H', len(fields)) + b''.join(struct.pack('<HHII', *field) for field in fields)
          file += struct.pack('<I', head + (page + 1) * length if page < pages - 1 else 0)
      open(sys.argv[1] + '/a', 'wb').write(file)
      """, [fixture.folder.path])
    let file = try ScratchFile()
    try file.write(PassFixture.bytes(fixture.folder.file("a")))
    for policy in MetadataPolicy.allCases {
      do {
        let copy = try file.copied(policy).copy
        #expect(copy.info.height > 0)
      } catch let error as ImagingError {
        #expect(error.code == .imageCorrupt)
      }
    }
  }
}

extension ImageLimits {
  /// The limits of a worker with a budget for whole pictures, in bytes.
  fileprivate static func confined(budget: Int) -> ImageLimits {
    var limits = ImageLimits(memory: WholePictureMemory(limit: budget))
    limits.isConfined = true
    return limits
  }
}
