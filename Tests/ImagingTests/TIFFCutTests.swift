import Foundation
import TestSupport
import Testing

@testable import Imaging

/// What copies of TIFF leave out: all that no picture needs and no field that is kept refers to.
@Suite struct TIFFCutTests {
  private let fixture: PassFixture
  private let file: ScratchFile

  init() throws {
    fixture = try PassFixture()
    file = try ScratchFile()
  }

  /// Makes a file with a script that writes `sys.argv[1]`, and makes it the content of `file`.
  private func make(_ script: String) throws -> [UInt8] {
    _ = try PassFixture.python(
      TIFFTests.encoders + "A = noise(20, 10, 1, 8)\n" + script, [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    try file.write(bytes)
    return bytes
  }

  private func count(_ text: String, _ bytes: [UInt8]) -> Int {
    var (count, rest) = (0, bytes[...])
    while let found = rest.firstRange(of: Array(text.utf8)) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }

  /// Checks that a copy has the samples of its source, and that a copy of it is the same.
  private func check(_ copy: [UInt8]) throws {
    let path = try fixture.write(copy, as: "copy")
    let printed = try PassFixture.python(
      """
      a, b = (Image.open(path) for path in sys.argv[1:3])
      print(a.n_frames == b.n_frames and all(
          (a.seek(n), b.seek(n)) and np.array_equal(np.asarray(a), np.asarray(b)) for n in range(a.n_frames)))
      """, [fixture.folder.file("in"), path])
    #expect(printed == "True")
    try file.write(copy)
  }

  @Test(
    "what a program left in the file, and nothing refers to, is no part of a copy",
    arguments: [
      // libtiff writes a changed directory at the end, and the old one stays.
      "open(path, 'wb').write(rich()); run('tiffset', '-s', '305', 'a new program', path)",
      "open(path, 'wb').write(rich()); run('tiffset', '-u', '305', path); run('tiffset', '-u', '270', path)",
      // Old EXIF and a thumbnail between the pixels and the directory, and before the pixels.
      "open(path, 'wb').write(tiff(A, 8, 1, more={273: (4, [8 + len(JUNK)])}, junk=JUNK))",
      // A private field with the offset of a directory, of which only its program knows.
      """
      data = tiff(A, 8, 1, more={65000: (4, [0x12345678]), 40000: (4, [0x12345678] * 3)})
      at = len(data)
      data = data.replace(struct.pack('<I', 0x12345678), struct.pack('<I', at))
      open(path, 'wb').write(data + directory({270: (2, b'SECRET text\\0')}, at) + JUNK)
      """,
      // Pages of Pillow, between which something was put.
      """
      pages = [Image.fromarray(noise(9, 7, 1, 8, n)[..., 0].astype('u1')) for n in range(3)]
      pages[0].save(path, 'TIFF', save_all=True, append_images=pages[1:], software='SECRET program', description='SECRET')
      run('tiffset', '-d', '1', '-s', '270', 'a longer description of page 2', path)
      run('tiffset', '-d', '2', '-u', '305', path)
      """,
      // A smaller version of the picture in a JPEG, as cameras write it.
      """
      at = 8 + 200
      first = directory({**fields_of(A, 8, 1), 273: (4, [8]), 279: (4, [200]), 305: (2, b'SECRET program\\0')}, at, True)
      jpeg = at + len(first) + len(directory({**fields_of(A, 8, 1), 513: (4, [0]), 514: (4, [0])}, 0))
      second = directory({**fields_of(A, 8, 1), 259: (3, [6]), 513: (4, [jpeg + 99]), 514: (4, [300])}, at + len(first))
      open(path, 'wb').write(header('<', False, at) + A.astype('u1').tobytes() + first + second
                             + b'SECRET'.ljust(99) + b'\\xff\\xd8JPEG'.ljust(300, b'x') + JUNK)
      """,
    ])
  func unreferenced(_ script: String) throws {
    let source = try make(
      """
      JUNK = b'Exif\\0\\0II*\\0 SECRET '.ljust(90_000, b'x') + b'SECRET'
      path = sys.argv[1]
      plain = tiff

      def tiff(*words, junk=b'', **more):
          data = plain(*words, **more)
          if not junk: return data
          # Offsets of values are not moved: there are none.
          at = struct.unpack('<I', data[4:8])[0] + len(junk)
          return data[:4] + struct.pack('<I', at) + junk + data[8:]

      def rich():
          return tiff(A, 8, 1, more={305: (2, b'SECRET program\\0'), 270: (2, b'SECRET description\\0'),
                                     700: (1, b'<x>SECRET</x>')})

      """ + script)
    #expect(count("SECRET", source) > 0)
    for policy in [MetadataPolicy.none, .copyright] {
      try file.write(source)
      let (copy, bytes) = try file.copied(policy)
      #expect(!copy.mayKeepMetadata && count("SECRET", bytes) == 0)
      #expect(count("JPEG", bytes) == count("JPEG", source))
      if count("JPEG", source) == 0 { try check(bytes) } else { try file.write(bytes) }
      #expect(try file.copied(policy).copy.isWholeFile)
    }
    try file.write(source)
    let all = try file.copied(.all).bytes
    #expect(all.elementsEqual(source.prefix(all.count)))
  }

  @Test(
    "pixels are kept where metadata is, too, and what may be left of that is said",
    arguments: [
      // The description is in the pixels, or they in it.
      (
        "tiff(A, 8, 1, more={270: (2, b'SECRET'), 273: (4, [8])}).replace(V, struct.pack('<HHII', 270, 2, 100, 58))",
        true
      ),
      (
        "tiff(A, 8, 1, more={270: (2, b'SECRET'), 273: (4, [8])}).replace(V, struct.pack('<HHII', 270, 2, 250, 8))",
        true
      ),
      // The directory is in a compressed strip that is said to be longer than it is.
      ("long(0)", false), ("long(100)", true),
    ])
  func overlapping(_ script: String, _ mayKeep: Bool) throws {
    let source = try make(
      """
      V = struct.pack('<HHI', 270, 2, 6) + b'????'
      plain = tiff

      def tiff(*words, **more):
          data = plain(*words, **more)
          at = data.find(struct.pack('<HHI', 270, 2, 6))
          return data[:at + 8] + b'????' + data[at + 12:]

      def long(more):
          data = zlib.compress(A.astype('u1').tobytes())
          at = 8 + len(data)
          return header('<', False, at) + data + directory(
              {**fields_of(A, 8, 1), 259: (3, [8]), 273: (4, [8]), 279: (4, [len(data) + more]), 270: (2, b'SECRET')}, at)

      open(sys.argv[1], 'wb').write(\(script))
      """)
    let (copy, bytes) = try file.copied(.none)
    #expect(copy.mayKeepMetadata == mayKeep)
    #expect(mayKeep || count("SECRET", bytes) == 0)
    #expect(bytes.prefix(208).elementsEqual(source.prefix(208)))
    try check(bytes)
    #expect(try file.copied(.none).copy.isWholeFile)
  }

  @Test("a strip whose size is not said ends where something else begins")
  func withoutSize() throws {
    _ = try make(
      """
      data = zlib.compress(A.astype('u1').tobytes())
      at = 8 + len(data)
      fields = {**fields_of(A, 8, 1), 259: (3, [8]), 273: (4, [8]), 270: (2, b'SECRET description\\0')}
      open(sys.argv[1], 'wb').write(header('<', False, at) + data + directory(fields, at) + b'SECRET')
      """)
    let (copy, bytes) = try file.copied(.none)
    #expect(!copy.mayKeepMetadata && count("SECRET", bytes) == 0)
    try check(bytes)
    #expect(try file.copied(.none).copy.isWholeFile)
  }

  @Test("planes of samples that are not shown are kept, also behind all others", arguments: MetadataPolicy.allCases)
  func planes(_ policy: MetadataPolicy) throws {
    let source = try make(
      """
      a = noise(20, 10, 5, 8).astype('u1')
      fields = {**fields_of(a, 8, 2, (0, 0)), 284: (3, [2]), 279: (4, [200] * 5)}
      size = len(directory({**fields, 273: (4, [0] * 5)}, 8))
      places = [8 + size + 200 * n for n in range(5)]
      open(sys.argv[1], 'wb').write(header('<', False, 8) + directory({**fields, 273: (4, places)}, 8)
                                    + b''.join(a[..., n].tobytes() for n in range(5)))
      """)
    let (copy, bytes) = try file.copied(policy)
    #expect(copy.isWholeFile && bytes == source)
  }

  @Test("every page of many is copied")
  func manyPages() throws {
    _ = try make(
      """
      fields = lambda at: {**fields_of(A, 8, 1), 273: (4, [at]), 279: (4, [200]), 270: (2, b'SECRET description\\0'),
                           282: (5, bytes(8)), 305: (2, b'SECRET program\\0')}
      size = len(directory(fields(0), 0))
      out, count = bytearray(header('<', False, 208)), 6000
      for n in range(count):
          at = 8 + n * (200 + size) + 200
          out += A.astype('u1').tobytes() + directory(fields(at - 200), at, at + size + 200 if n < count - 1 else 0)
      open(sys.argv[1], 'wb').write(out)
      """)
    let (copy, bytes) = try file.copied(.none)
    #expect(copy.info.frames == 6000 && count("SECRET", bytes) == 0)
    try file.write(bytes)
    let again = try file.copied(.none).copy
    #expect(again.isWholeFile && again.info == copy.info)
  }

  @Test(
    "a page that cannot be read does not prevent that the others are",
    arguments: ["0xfffffff0", "9", "208", "len(data)", "len(data) - 8", "8 + 100"])
  func nextPage(_ offset: String) throws {
    let source = try make(
      """
      data = tiff(A, 8, 1, more={305: (2, b'SECRET program\\0')})
      at = struct.unpack('<I', data[4:8])[0]
      end = at + 2 + 12 * struct.unpack('<H', data[at:at + 2])[0]
      open(sys.argv[1], 'wb').write(data[:end] + struct.pack('<I', \(offset)) + data[end + 4:])
      """)
    let result = try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    #expect(result.source == ImageInfo(format: .tiff, width: 20, height: 10, frames: 1))
    let damage = PictureDamage(.harmless, "behind 1 page it has another one that cannot be read")
    #expect(result.damage == damage)
    for policy in MetadataPolicy.allCases {
      try file.write(source)
      let (copy, bytes) = try file.copied(policy)
      #expect(copy.damage == damage && copy.info == result.source)
      #expect(count("SECRET", bytes) == (policy == .all ? 1 : 0))
      try file.write(bytes)
      #expect(try file.copied(policy).copy.isWholeFile)
    }
  }

  @Test(
    "what seems a directory among the pixels does not decide what is blanked",
    arguments: [MetadataPolicy.none, .copyright])
  func directoryInPixels(_ policy: MetadataPolicy) throws {
    let file = try ScratchFile()
    try file.write(try CorpusPictures.bytes("damaged-tiff-directory-in-pixels"))
    let (copy, copied) = try file.copied(policy)
    #expect(copy.hasUnreadableMetadata && copy.mayKeepMetadata)
    try file.write(copied)
    #expect(try file.copied(policy).copy.isWholeFile)
  }

  @Test func `what overlaps merged ranges is what overlaps one of them`() {
    var random = SplitMix64(seed: 1)
    func range() -> Range<Int64> {
      let start = Int64.random(in: 0..<40, using: &random)
      return start..<(start + Int64.random(in: 1...6, using: &random))
    }
    for count in 0..<200 {
      let ranges = (0..<(count % 9)).map { _ in range() }
      let merged = MergedRanges(ranges + [5..<5])
      for _ in 0..<20 {
        let other = range()
        #expect(merged.overlaps(other) == ranges.contains { $0.overlaps(other) }, "\(ranges), \(other)")
        #expect(merged.overlaps(other) == (ByteRanges.difference([other], ranges) != [other]))
      }
    }
  }

  @Test func `directories of EXIF are blanked, however many pages there are`() throws {
    let source = try make(
      """
      count, pixels = 2000, A.astype('u1').tobytes()
      out = bytearray(header('<', False, 0) + pixels)
      exif = []
      for n in range(count):
          exif.append(len(out))
          out += directory({270: (2, b'SECRET description\\0')}, len(out))
      fields = lambda: {**fields_of(A, 8, 1), 273: (4, [8]), 279: (4, [200])}
      offsets = len(out)
      out += struct.pack(f'<{count}I', *exif)
      first = len(out)
      for n in range(count):
          at = len(out)
          page = {**fields(), **({34665: (4, exif)} if n == 0 else {})}
          size = len(directory(page, at))
          out += directory(page, at, at + size if n < count - 1 else 0)
      out[4:8] = struct.pack('<I', first)
      open(sys.argv[1], 'wb').write(out)
      """)
    #expect(count("SECRET", source) == 2000)
    let (copy, bytes) = try file.copied(.none)
    #expect(copy.info.frames == 2000 && !copy.mayKeepMetadata && count("SECRET", bytes) == 0)
  }
}
