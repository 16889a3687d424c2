/// The header of a JPEG file (ITU-T T.81 annex B): its segments up to the first scan. Checked as libjpeg-turbo checks them,
/// with the same errors.
struct JPEGHeader {
  /// A segment that can hold metadata: an application's, or a comment; or bytes that belong to no segment.
  struct Segment {
    /// The marker's code: 0xE0…0xEF, 0xFE; 0 for bytes that belong to no segment.
    let marker: UInt8
    /// The offset of the marker, with fill bytes before it.
    let start: Int64
    /// The offset of the content.
    let content: Int64
    /// The offset after the segment.
    let end: Int64

    /// Bytes of content.
    var count: Int { Int(end - content) }
  }

  /// Columns and rows.
  private(set) var (width, height) = (0, 0)
  /// The segments that can hold metadata, in order.
  private(set) var segments: [Segment] = []
  /// The number of all segments except the scan's header.
  private(set) var segmentCount = 0
  /// The library's warning about bytes that belong to no segment; nil without such.
  private(set) var warning: String?
  /// A reader at the first scan's coded data.
  private(set) var reader: SequentialReader

  private var precision = 0
  private var components: [Component] = []
  private var hasFrame = false
  /// Whether the frame is sequential, with Huffman codes.
  private var isSequential = false
  /// The tables of Huffman codes that are defined, and those that the first scan uses, a bit each: 0…3 for DC, 16…19 for AC.
  private var (huffmanTables, usedTables): (UInt32, UInt32) = (0, 0)
  /// The number of components in the first scan.
  private var scanCount = 0

  private struct Component {
    let id, horizontal, vertical: Int
  }

  /// Limits of libjpeg: components in a frame and a scan, tables of each kind, and sampling factors.
  private static let (maxComponents, maxScanComponents, tables, arithmeticTables, maxSampling) = (10, 4, 4, 16, 4)

  /// Reads the header of a file with JPEG's signature.
  /// - Throws: `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `image-too-small`, `io`,
  ///   `cancelled`.
  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    reader = SequentialReader(file, at: 2)
    while try readSegment() {}
    try check(limits)
  }

  /// Reads a segment; returns false after the header of the first scan.
  private mutating func readSegment() throws(ImagingError) -> Bool {
    let start = reader.offset
    let marker = try nextMarker()
    if marker != 0xDA {
      segmentCount += 1
      try JPEGStructure.check(segments: segmentCount)
    }
    switch marker {
    case 0xD8: throw .jpeg("Invalid JPEG file structure: two SOI markers")
    case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA:
      try readFrame()
      isSequential = marker <= 0xC1
    case 0xC3, 0xC5...0xC8, 0xCB, 0xCD...0xCF:
      throw .jpeg("Unsupported JPEG process: SOF type \(Self.hexadecimal(marker))", code: .unsupportedFormat)
    case 0xDA:
      try readScanHeader()
      return false
    case 0xD9:
      throw .jpeg(hasFrame ? "Invalid JPEG file structure: missing SOS marker" : "JPEG datastream contains no image")
    case 0xC4: try readHuffmanTables()
    case 0xCC: try readArithmeticTables()
    case 0xDB: try readQuantizationTables()
    case 0xDD:
      guard try number(2) == 4 else { throw Self.wrongLength }
      _ = try number(2)
    case 0xDC: try skipSegment()
    case 0xE0...0xEF, 0xFE:
      let content = try skipSegment()
      segments.append(Segment(marker: marker, start: start, content: content, end: reader.offset))
    case 0x01, 0xD0...0xD7: break
    default: throw .jpeg("Unsupported marker type \(Self.hexadecimal(marker))")
    }
    return true
  }

  /// Reads a marker's code, after fill bytes. Bytes that belong to no segment are listed.
  private mutating func nextMarker() throws(ImagingError) -> UInt8 {
    let start = reader.offset
    var (end, unexpected) = (start, 0)
    var code: UInt8
    repeat {
      end = reader.offset
      code = try byte()
      while code != 0xFF {
        unexpected += 1
        end = reader.offset
        code = try byte()
      }
      repeat { code = try byte() } while code == 0xFF
      if code == 0 { unexpected += 2 }
    } while code == 0
    guard unexpected > 0 else { return code }
    segments.append(Segment(marker: 0, start: start, content: start, end: end))
    warning =
      warning ?? "Corrupt JPEG data: \(unexpected) extraneous bytes before marker \(Self.hexadecimal(code))"
    return code
  }

  /// Skips a segment, and returns the offset of its content. A length below 2 is taken for 2.
  @discardableResult
  private mutating func skipSegment() throws(ImagingError) -> Int64 {
    let length = try number(2)
    defer { reader.skip(max(length - 2, 0)) }
    return reader.offset
  }

  private mutating func readFrame() throws(ImagingError) {
    let length = try number(2)
    precision = try number(1)
    height = try number(2)
    width = try number(2)
    let count = try number(1)
    guard !hasFrame else { throw .jpeg("Invalid JPEG file structure: two SOF markers") }
    guard width > 0, height > 0, count > 0 else {
      throw .jpeg("Empty JPEG image (DNL not supported)", code: .unsupportedFormat)
    }
    guard length == 8 + 3 * count else { throw Self.wrongLength }
    for _ in 0..<count {
      let (id, factors, _) = (try number(1), try number(1), try number(1))
      components.append(Component(id: id, horizontal: factors >> 4, vertical: factors & 15))
    }
    hasFrame = true
  }

  private mutating func readScanHeader() throws(ImagingError) {
    guard hasFrame else { throw .jpeg("Invalid JPEG file structure: SOS before SOF") }
    let (length, count) = (try number(2), try number(1))
    guard length == 2 * count + 6, 1...Self.maxScanComponents ~= count else { throw Self.wrongLength }
    scanCount = count
    // The component of each slot in the scan; libjpeg looks a component up among those whose slot is free.
    var chosen = [Int?](repeating: nil, count: Self.maxScanComponents)
    for slot in 0..<count {
      let (id, tables) = (try number(1), try number(1))
      usedTables |= 1 << UInt32(tables >> 4) | 1 << UInt32(16 + tables & 15)
      let found = components.indices.prefix(Self.maxScanComponents).first {
        components[$0].id == id && chosen[$0] == nil
      }
      guard let found, !chosen[..<slot].contains(found) else { throw .jpeg("Invalid component ID \(id) in SOS") }
      chosen[slot] = found
    }
    _ = try number(3)
  }

  private mutating func readHuffmanTables() throws(ImagingError) {
    var left = try number(2) - 2
    while left > 16 {
      let index = try number(1)
      var count = 0
      for _ in 0..<16 { count += try number(1) }
      left -= 17
      guard count <= 256, count <= left else { throw .jpeg("Bogus Huffman table definition") }
      if count > 0, try reader.next(count) == nil { throw Self.truncated }
      left -= count
      let table = index & 0x10 == 0 ? index : index - 0x10
      guard table < Self.tables else { throw .jpeg("Bogus DHT index \(table)") }
      huffmanTables |= 1 << UInt32(index)
    }
    guard left == 0 else { throw Self.wrongLength }
  }

  private mutating func readQuantizationTables() throws(ImagingError) {
    var left = try number(2) - 2
    while left > 0 {
      let head = try number(1)
      guard head & 15 < Self.tables else { throw .jpeg("Bogus DQT index \(head & 15)") }
      let count = head >> 4 == 0 ? 64 : 128
      guard try reader.next(count) != nil else { throw Self.truncated }
      left -= 1 + count
    }
    guard left == 0 else { throw Self.wrongLength }
  }

  private mutating func readArithmeticTables() throws(ImagingError) {
    var left = try number(2) - 2
    while left > 0 {
      let (index, value) = (try number(1), try number(1))
      left -= 2
      guard index < 2 * Self.arithmeticTables else { throw .jpeg("Bogus DAC index \(index)") }
      guard index >= Self.arithmeticTables || value & 15 <= value >> 4 else {
        throw .jpeg("Bogus DAC value 0x\(String(value, radix: 16))")
      }
    }
    guard left == 0 else { throw Self.wrongLength }
  }

  private func check(_ limits: ImageLimits) throws(ImagingError) {
    guard max(width, height) <= JPEGEncoder.maxSide else {
      // The pixel limit takes precedence over the library's.
      try limits.check(width: width, height: height)
      throw .jpeg("Maximum supported image dimension is \(JPEGEncoder.maxSide) pixels", code: .imageTooLarge)
    }
    guard precision == 8 else { throw .jpeg("Unsupported JPEG data precision \(precision)", code: .unsupportedFormat) }
    guard components.count <= Self.maxComponents else {
      throw .jpeg("Too many color components: \(components.count), max \(Self.maxComponents)")
    }
    let factors = components.flatMap { [$0.horizontal, $0.vertical] }
    guard factors.allSatisfy({ 1...Self.maxSampling ~= $0 }) else { throw .jpeg("Bogus sampling factors") }
    try limits.check(width: width, height: height)
    guard [1, 3, 4].contains(components.count) else { throw .unknownColours(components: components.count) }
  }

  // MARK: Damage

  /// The beginnings of segments that affect colours or the orientation, and without which a picture is still decoded: those of
  /// a colour transform, a profile and EXIF.
  private static let signatures = ["Adobe", "ICC_PROFILE", "Exif\0"].map { Array($0.utf8) }

  /// The bytes that belong to no segment.
  private var strays: [Segment] { segments.filter { $0.marker == 0 } }

  /// The error for bytes that belong to no segment and may be the rest of one without which the pixels would differ: of
  /// Huffman codes, which the library replaces by the standard's, or of several. nil when there are no such bytes. For other
  /// missing segments the library has its own error.
  var decodingError: ImagingError? {
    guard let warning else { return nil }
    let lacksTables = isSequential && (scanCount < components.count || usedTables & ~huffmanTables != 0)
    // No segment is longer.
    guard lacksTables || strays.contains(where: { $0.end - $0.start > 1 << 16 }) else { return nil }
    return .jpeg(warning)
  }

  /// The damage of bytes that belong to no segment, judged by what they may be the rest of; nil when there are none.
  /// - Throws: `io`, `cancelled`.
  func damage(in file: FileReader) throws(ImagingError) -> PictureDamage? {
    guard let warning else { return nil }
    if decodingError != nil { return PictureDamage(.visible, warning) }
    for stray in strays {
      let bytes = try file.bytes(Int(stray.end - stray.start), at: stray.start)
      if Self.signatures.contains(where: { bytes.firstRange(of: $0) != nil }) {
        return PictureDamage(.visible, warning)
      }
    }
    return PictureDamage(.harmless, warning)
  }

  // MARK: Bytes

  private mutating func byte() throws(ImagingError) -> UInt8 {
    guard let byte = try reader.next() else { throw Self.truncated }
    return byte
  }

  /// Reads an integer of so many bytes.
  private mutating func number(_ count: Int) throws(ImagingError) -> Int {
    var number = 0
    for _ in 0..<count { number = number << 8 | Int(try byte()) }
    return number
  }

  private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0x0" : "0x") + String(byte, radix: 16) }

  private static let truncated = ImagingError.jpeg("Premature end of input file", code: .imageTruncated)
  private static let wrongLength = ImagingError.jpeg("Bogus marker length")
}

extension ImagingError {
  /// The error for a JPEG file, in libjpeg's words.
  static func jpeg(_ text: String, code: Code = .imageCorrupt) -> ImagingError {
    ImagingError(code: code, message: "the JPEG cannot be decoded: \(text)")
  }

  /// The error for a JPEG file with a number of components for which no colour space is known.
  static func unknownColours(components: Int) -> ImagingError {
    ImagingError(
      code: .unsupportedFormat, message: "the JPEG has \(components) components of an unknown colour space")
  }
}
