import Foundation
import Testing

@testable import Imaging

@Suite struct DamageTests {
  static let kinds = ["baseline", "progressive", "sequential", "interlaced"]

  @Test("a picture truncated at any of 100 places is reported as truncated", .timeLimit(.minutes(30)), arguments: kinds)
  func truncated(_ name: String) throws {
    let fixture = try PassFixture()
    let whole = try bytes(name, fixture)
    let ends = [2, 3, 4, 7, 8, 9, 20, 33, 40, whole.count - 2, whole.count - 1]
    for place in ends + (1..<90).map({ $0 * whole.count / 90 }) {
      let code = try fixture.code(of: whole.prefix(place))
      if name == "sequential" || name == "interlaced", place < 4 {
        #expect(code == .imageTruncated || code == .notAnImage, "\(place)")
      } else {
        #expect(code == .imageTruncated, "\(place)")
      }
    }
  }

  @Test(
    "a bit flipped at any of 1000 places of a PNG is noticed", .timeLimit(.minutes(30)),
    arguments: ["sequential", "interlaced"])
  func flippedPNG(_ name: String) throws {
    let fixture = try PassFixture()
    let size = try bytes(name, fixture).count
    try flip(name, fixture) { place, code in
      // Nothing depends on the checksum of the last chunk, which is empty: that is a warning.
      if place >= size - 4, code == nil { return }
      #expect(code.map(Self.ofThePicture.contains) == true, "\(place): \(String(describing: code))")
      // Behind the signature and the first length a checksum tells.
      if place >= 12 { #expect(code == .imageCorrupt || code == .imageTruncated, "\(place)") }
    }
  }

  @Test(
    "a bit flipped at any of 1000 places of a JPEG never does worse than spoil the picture", .timeLimit(.minutes(30)),
    arguments: ["baseline", "progressive"])
  func flippedJPEG(_ name: String) throws {
    let fixture = try PassFixture()
    var noticed = 0
    try flip(name, fixture) { place, code in
      if let code { #expect(Self.ofThePicture.contains(code), "\(place): \(code)") }
      if code != nil { noticed += 1 }
    }
    // JPEG has no checksums, and its code finds its way again; some damage shows nevertheless.
    #expect(noticed > 100, "\(noticed)")
  }

  /// The codes of errors of the picture.
  private static let ofThePicture: Set<ImagingError.Code> = [
    .notAnImage, .unsupportedFormat, .imageCorrupt, .imageTruncated, .imageTooLarge,
  ]

  /// One pass over a picture with each of 1000 bits changed: those of the first 200 bytes, where the headers are, and
  /// as many as are left over the whole.
  private func flip(_ name: String, _ fixture: PassFixture, check: (Int, ImagingError.Code?) -> Void) throws {
    let whole = try bytes(name, fixture)
    for step in 0..<1000 {
      var damaged = whole
      let place = step < 200 ? step : step * (whole.count - 1) / 999
      damaged[place] ^= 1 << UInt8(step % 8)
      check(place, try fixture.code(of: damaged, limits: ImageLimits(maxPixels: 1_000_000)))
    }
  }

  @Test(
    "a JPEG of very many scans is refused, one of many is read",
    arguments: [(11, ImagingError.Code.imageTooLarge), (2, nil)])
  func scans(_ planes: Int, _ expected: ImagingError.Code?) throws {
    let fixture = try PassFixture()
    #expect(try fixture.code(of: Self.manyScans(planes: planes), recipe: "invert(1)") == expected)
  }

  @Test("10 000 scans of a large picture are refused early", arguments: [false, true])
  func repeatedScans(_ isProgressive: Bool) throws {
    let fixture = try PassFixture()
    // Without the progressive coding of ends a scan of many blocks is not small.
    let file = Self.repeatedScans(10_000, side: isProgressive ? 4096 : 16, isProgressive: isProgressive)
    #expect(file.count < 1 << 20)
    let clock = ContinuousClock()
    let began = clock.now
    let error = try #require(try fixture.error(of: file))
    #expect(
      error.code == .imageTooLarge && error.message.contains("more than \(isProgressive ? 119 : 500) scans"), "\(error)"
    )
    #expect(clock.now - began < .seconds(20))
  }

  /// The pixels of a result, and what was said of the source's damage; nil when the pass fails.
  private func result(
    of bytes: some Sequence<UInt8>, _ fixture: PassFixture
  ) throws -> (bytes: [UInt8], damage: PictureDamage?)? {
    let (source, target) = (try fixture.write(bytes), fixture.folder.file("result"))
    do {
      let pass = try fixture.pass(source, to: target, recipe: "invert(1)")
      return (try PassFixture.bytes(target), pass.damage)
    } catch let error as ImagingError {
      #expect(error.code == .imageCorrupt)
      return nil
    }
  }

  @Test(
    "bytes between the segments of a header cost nothing but a warning", arguments: ["jpeg-420", "jpeg-progressive"])
  func strayBytes(_ name: String) throws {
    let fixture = try PassFixture()
    let whole = Array(try CorpusPictures.bytes(name).dropLast())
    let pieces = CorpusPictures.pieces(whole)
    let expected = try #require(try result(of: whole, fixture))
    #expect(expected.damage == nil)
    for stray in [[0x41], Array("HIDDEN".utf8) + [0xFF, 0, 1], [UInt8](repeating: 0, count: 70_000)] {
      let damaged = try result(of: Array((pieces[..<2] + [stray] + pieces[2...]).joined()), fixture)
      // What is longer than a segment may be anything.
      guard stray.count < 1 << 16 else {
        #expect(damaged == nil)
        continue
      }
      #expect(damaged?.bytes == expected.bytes)
      #expect(damaged?.damage?.kind == .harmless)
      #expect(damaged?.damage?.text.contains("extraneous bytes before marker") == true)
    }
    // In coded data they may have taken the place of pixels.
    let end = whole.count - 2
    let many = [UInt8](repeating: 0x41, count: 100)
    #expect(try result(of: whole[..<end] + many + whole[end...], fixture) == nil)
  }

  @Test(
    "what is left of a segment is an error if pixels depend on it, a warning if colours or the orientation do")
  func lostSegments() throws {
    let fixture = try PassFixture()
    let whole = Array(try CorpusPictures.bytes("jpeg-420").dropLast())
    let expected = try #require(try result(of: whole, fixture))
    let places = whole.indices.dropLast().filter { whole[$0] == 0xFF && [0xC4, 0xDB].contains(whole[$0 + 1]) }
    #expect(places.count >= 2)
    for place in places {
      var damaged = whole
      damaged[place] = 0x7F
      #expect(try result(of: damaged, fixture) == nil, "\(place)")
    }
    for text in ["Adobe", "ICC_PROFILE\0", "Exif\0\0"] {
      let lost = [0x7F, 0xEE, 0, 20] + Array(text.utf8)
      let pieces = CorpusPictures.pieces(whole)
      let damaged = try result(of: (pieces[..<2] + [lost] + pieces[2...]).joined(), fixture)
      #expect(damaged?.bytes == expected.bytes && damaged?.damage?.kind == .visible, "\(text)")
    }
  }

  @Test(
    "a wrong checksum costs nothing but a warning, which says whether something visible depends on the chunk",
    arguments: [
      ("tEXt", PictureDamage.Kind.harmless), ("pHYs", .harmless), ("gAMA", .visible), ("iCCP", .visible),
      ("cHRM", .visible), ("sRGB", .visible), ("cICP", .visible), ("eXIf", .visible), ("acTL", .visible),
      ("fcTL", .visible), ("fdAT", .visible), ("tRNS", nil), ("abCd", nil),
    ], [false, true])
  func checksums(_ chunk: (name: String, kind: PictureDamage.Kind?), isBehind: Bool) throws {
    let fixture = try PassFixture()
    let whole = Array(try CorpusPictures.bytes("png-8").dropLast())
    let expected = try #require(try result(of: whole, fixture))
    let bytes = Self.damagedChunk(chunk.name)
    let place = isBehind ? whole.count - 12 : 33
    let damaged = try result(of: whole[..<place] + bytes + whole[place...], fixture)
    #expect((damaged != nil) == (chunk.kind != nil))
    guard let kind = chunk.kind else { return }
    #expect(damaged?.bytes == expected.bytes && damaged?.damage == PictureDamage(kind, "\(chunk.name): CRC error"))
  }

  @Test("of several wrong checksums the warning names one on which colours or the orientation depend")
  func severalChecksums() throws {
    let fixture = try PassFixture()
    let whole = Array(try CorpusPictures.bytes("png-8").dropLast())
    let chunks = ["tEXt", "eXIf", "tIME", "gAMA"].flatMap(Self.damagedChunk)
    let damaged = try result(of: whole[..<33] + chunks + whole[33...], fixture)
    #expect(damaged?.damage == PictureDamage(.visible, "eXIf: CRC error"))
  }

  private static func damagedChunk(_ name: String) -> [UInt8] {
    var bytes = PNGChunk.encoded(Array(name.utf8), [0, 0, 0, 9, 0, 0])
    bytes[bytes.count - 1] ^= 1
    return bytes
  }

  @Test("palette indices beyond the palette are black, as in browsers")
  func palette() throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        before = chunk(b'PLTE', bytes([200] * 6))
        open(sys.argv[1], 'wb').write(png(np.full((4, 4, 1), 9), 8, 3, before=before))
        """,
      recipe: "none", check: "print(np.asarray(Image.open(sys.argv[2])).max())")
    #expect(printed == "0")
  }

  /// A small photograph, stored in one of four ways.
  private func bytes(_ kind: String, _ fixture: PassFixture) throws -> [UInt8] {
    _ = try PassFixture.python(
      """
      image = Image.open(sys.argv[1]).crop((60, 20, 141, 77))
      if sys.argv[3] in ('baseline', 'progressive'):
          image.save(sys.argv[2], 'JPEG', progressive=sys.argv[3] == 'progressive')
      else:
          pixels = np.asarray(image).astype(int)
          open(sys.argv[2], 'wb').write(png(pixels, 8, 2, sys.argv[3] == 'interlaced'))
      """, [PassFixture.sample("chelsea-small.png"), fixture.folder.file("made"), kind])
    return try PassFixture.bytes(fixture.folder.file("made"))
  }

  /// A grey progressive JPEG of one block that sends each coefficient in a scan of its own, bit plane by bit plane: 1 +
  /// 63 · planes scans, all of them correct and empty.
  private static func manyScans(planes: Int) -> [UInt8] {
    var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    file += [0xFF, 0xC2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
    for table: UInt8 in [0x00, 0x10] {
      file += [0xFF, 0xC4, 0, 20, table, 1] + [UInt8](repeating: 0, count: 15) + [0]
    }
    file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0, 0x7F]
    for plane in (0..<planes).reversed() {
      let approximation = plane == planes - 1 ? UInt8(plane) : UInt8((plane + 1) << 4 | plane)
      for coefficient: UInt8 in 1...63 {
        file += [0xFF, 0xDA, 0, 8, 1, 1, 0, coefficient, coefficient, approximation, 0x7F]
      }
    }
    return file + [0xFF, 0xD9]
  }

  /// A JPEG whose coefficients are sent again and again, all of them 0, in a few bytes for each scan.
  private static func repeatedScans(_ count: Int, side: Int, isProgressive: Bool) -> [UInt8] {
    let size = [UInt8(side >> 8), UInt8(side & 0xFF)]
    var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    file += isProgressive ? [0xFF, 0xC2, 0, 11, 8] : [0xFF, 0xC0, 0, 17, 8]
    file += size + size + (isProgressive ? [1, 1, 0x11, 0] : [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    // Symbols of one bit, 0: no difference; 1 bit, 0: the end of a block; 2 bits, 10: the end of many.
    file += [0xFF, 0xC4, 0, 20, 0x00, 1] + [UInt8](repeating: 0, count: 15) + [0]
    file += [0xFF, 0xC4, 0, 21, 0x10, 1, 1] + [UInt8](repeating: 0, count: 14) + [0, 0xE0]
    let blocks = side / 8 * (side / 8)
    guard isProgressive else {
      // One of three components, a difference and an end for each block.
      let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0] + [UInt8](repeating: 0, count: blocks * 2 / 8)
      return file + Array(repeatElement(scan, count: count).joined()) + [0xFF, 0xD9]
    }
    file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: blocks / 8)
    // 32 767 blocks end with 10 and fourteen 1s: BF FF, and 00 behind each FF (T.81 § F.1.2.3).
    let runs = Array(repeatElement([0xBF, 0xFF, 0] as [UInt8], count: (blocks + 32766) / 32767).joined())
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0] + runs
    return file + Array(repeatElement(scan, count: count).joined()) + [0xFF, 0xD9]
  }

  @Test func `a PNG for which there is no memory is too large, not damaged`() throws {
    let file = try ScratchFile()
    let failure = PNGFailure(try StdioStream(writing: file.descriptor))
    #expect(failure.whileDecoding.code == .imageCorrupt && failure.whileEncoding.code == .filterFailed)
    failure.storage.pointee.lacks_memory = 1
    #expect(failure.whileDecoding.code == .imageTooLarge && failure.whileEncoding.code == .imageTooLarge)
  }
}
