import CPNG

/// The header of a PNG file (W3C PNG, third edition): its chunks up to the first IDAT, with their checksums. Checked as libpng
/// checks them, with the same errors, except for the contents of ancillary chunks.
struct PNGHeader {
  /// Columns and rows.
  private(set) var (width, height) = (0, 0)

  /// The number of frames, 1 for a picture that is not animated.
  var frames: Int { max(announcedFrames, 1) }

  /// The library's warning about a wrong checksum of an ancillary chunk; nil without one.
  private(set) var damage: PictureDamage?

  /// The decoder's error because of that damage: the wrong part may be the name of an unknown chunk.
  private(set) var decodingError: ImagingError?

  private var reader: SequentialReader
  private let limits: ImageLimits
  private var (depth, colourType, interlacing) = (0, 0, 0)
  private var (hasHeader, hasTransparency) = (false, false)
  private var chunkCount = 0
  /// The number of frames that a chunk says; 0 without one.
  private var announcedFrames = 0
  /// The number of the palette's colours; nil without a palette.
  private var paletteCount: Int?

  /// The bit depths of each colour type (table 11.1).
  private static let depths: [Int: Set<Int>] = [
    0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
  ]
  private static let palette = 3
  private static let maxInteger = 0x7FFF_FFFF

  /// Reads the header of a file with PNG's signature.
  /// - Throws: `image-corrupt`, `image-truncated`, `image-too-large`, `image-too-small`, `io`, `cancelled`.
  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    reader = SequentialReader(file, at: 4)
    self.limits = limits
    guard try bytes(4) == [0x0D, 0x0A, 0x1A, 0x0A] else { throw .png("PNG file corrupted by ASCII conversion") }
    do throws(ImagingError) {
      while try readChunk() {}
    } catch {
      // The size is known even when later bytes are wrong.
      if width > 0, height > 0 { try limits.check(width: width, height: height) }
      guard let decodingError, error.code != .io, error.code != .cancelled else { throw error }
      throw decodingError
    }
    try limits.check(width: width, height: height)
  }

  /// Reads a chunk; returns false at the first IDAT.
  private mutating func readChunk() throws(ImagingError) -> Bool {
    chunkCount += 1
    try PNGChunk.check(count: chunkCount)
    let head = try bytes(8)
    let (length, name) = (head.prefix(4).bigEndianInteger, Array(head.suffix(4)))
    guard length <= Self.maxInteger else { throw .png("PNG unsigned integer out of range") }
    guard name.allSatisfy(PNGChunk.isLetter) else { throw .png("invalid chunk type", in: name) }
    var chunk = Chunk(name: name, length: length)
    chunk.update(name[...])
    guard length <= maxLength(of: name) else { throw .png("chunk data is too large", in: name) }
    switch name {
    case PNGChunk.data:
      guard hasHeader else { throw .png("Missing IHDR before IDAT", in: name) }
      guard colourType != Self.palette || paletteCount != nil else { throw .png("Missing PLTE before IDAT", in: name) }
      return false
    case PNGChunk.header: try readHeader(&chunk)
    case PNGChunk.end: throw .png("out of place", in: name)
    case PNGChunk.palette: try readPalette(&chunk)
    case PNGChunk.transparency: try readTransparency(&chunk)
    default:
      if name == PNGChunk.animation, length == 8, announcedFrames == 0 {
        announcedFrames = try read(4, of: &chunk).bigEndianInteger
      }
      try finish(&chunk)
      guard PNGChunk.isAncillary(name) else { throw .png("error in user chunk", in: name) }
    }
    return true
  }

  /// The longest chunk of a name that libpng reads.
  private func maxLength(of name: [UInt8]) -> Int {
    guard name == PNGChunk.data else { return PNGDecoder.maxChunkBytes }
    let channels = [2: 3, 4: 2, 6: 4][colourType] ?? (hasHeader ? 1 : 0)
    let row = width * channels * (depth > 8 ? 2 : 1) + 1 + (interlacing != 0 ? 6 : 0)
    let (product, overflow) = row.multipliedReportingOverflow(by: height)
    let data = overflow || height > Int(UInt32.max) / row ? Self.maxInteger : product
    return max(PNGDecoder.maxChunkBytes, min(data + 6 + 5 * (data / min(row, 32_566) + 1), Self.maxInteger))
  }

  private mutating func readHeader(_ chunk: inout Chunk) throws(ImagingError) {
    guard !hasHeader else { throw .png("out of place", in: chunk.name) }
    guard chunk.length == 13 else { throw .png("invalid", in: chunk.name) }
    hasHeader = true
    let content = try read(13, of: &chunk)
    try finish(&chunk)
    let sides = [content[0..<4], content[4..<8]].map(\.bigEndianInteger)
    guard sides.allSatisfy({ $0 <= Self.maxInteger }) else { throw .png("PNG unsigned integer out of range") }
    (width, height) = (sides[0], sides[1])
    (depth, colourType, interlacing) = (Int(content[8]), Int(content[9]), Int(content[12]))
    guard width > 0, height > 0, max(width, height) <= ImageLimits.maxSide, max(width, height) <= limits.maxPixels,
      Self.depths[colourType]?.contains(depth) == true, content[10] == 0, content[11] == 0, interlacing <= 1
    else { throw .png("Invalid IHDR data") }
  }

  private mutating func readPalette(_ chunk: inout Chunk) throws(ImagingError) {
    guard hasHeader else { throw .png("missing IHDR", in: chunk.name) }
    guard paletteCount == nil else { throw .png("duplicate", in: chunk.name) }
    try finish(&chunk)
    guard colourType & 2 != 0 else { throw .png("ignored in grayscale PNG", in: chunk.name) }
    guard chunk.length <= 3 * 256, chunk.length % 3 == 0 else { throw .png("invalid", in: chunk.name) }
    guard chunk.length > 0 else { throw .png("Invalid palette") }
    paletteCount = min(chunk.length / 3, colourType == Self.palette ? 1 << depth : 256)
    guard !hasTransparency else { throw .png("tRNS must be after", in: chunk.name) }
  }

  private mutating func readTransparency(_ chunk: inout Chunk) throws(ImagingError) {
    guard hasHeader else { throw .png("missing IHDR", in: chunk.name) }
    try finish(&chunk)
    guard !hasTransparency else { throw .png("duplicate", in: chunk.name) }
    switch colourType {
    case 0, 2:
      guard chunk.length == (colourType == 0 ? 2 : 6) else { throw .png("invalid", in: chunk.name) }
    case Self.palette:
      guard let paletteCount else { throw .png("out of place", in: chunk.name) }
      guard 1...paletteCount ~= chunk.length else { throw .png("invalid", in: chunk.name) }
    default: throw .png("invalid with alpha channel", in: chunk.name)
    }
    hasTransparency = true
  }

  // MARK: Bytes

  private struct Chunk {
    let name: [UInt8]
    let length: Int
    /// Unread bytes of content.
    var left: Int
    private(set) var checksum: uLong = 0

    init(name: [UInt8], length: Int) { (self.name, self.length, left) = (name, length, length) }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
      checksum = bytes.withUnsafeBufferPointer { crc32(checksum, $0.baseAddress, uInt($0.count)) }
    }
  }

  /// Reads some bytes of a chunk's content.
  private mutating func read(_ count: Int, of chunk: inout Chunk) throws(ImagingError) -> [UInt8] {
    let content = try bytes(count)
    chunk.update(content)
    chunk.left -= count
    return Array(content)
  }

  /// Reads the rest of a chunk and its checksum.
  private mutating func finish(_ chunk: inout Chunk) throws(ImagingError) {
    while chunk.left > 0 {
      guard let piece = try reader.piece(upTo: chunk.left) else { throw Self.truncated }
      chunk.update(piece)
      chunk.left -= piece.count
    }
    guard try bytes(4).bigEndianInteger != Int(chunk.checksum) else { return }
    let error = ImagingError.png("CRC error", in: chunk.name)
    guard PNGChunk.isAncillary(chunk.name), chunk.name != PNGChunk.transparency else { throw error }
    let kind = PNGChunk.damage(of: chunk.name)
    let found = PictureDamage(kind ?? .visible, "\(String(decoding: chunk.name, as: UTF8.self)): CRC error")
    damage = .worse(damage, found)
    if kind == nil { decodingError = decodingError ?? error }
  }

  private mutating func bytes(_ count: Int) throws(ImagingError) -> ArraySlice<UInt8> {
    guard let bytes = try reader.next(count) else { throw Self.truncated }
    return bytes
  }

  private static let truncated = ImagingError.png("the file ends too early", code: .imageTruncated)
}

extension ImagingError {
  /// The error for a PNG file, in libpng's words.
  /// - Parameter chunk: The name of the chunk that is wrong.
  static func png(_ text: String, in chunk: [UInt8]? = nil, code: Code = .imageCorrupt) -> ImagingError {
    let prefix = chunk.map { name in
      name.map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return PNGChunk.isLetter(byte) ? String(UnicodeScalar(byte)) : "[\(byte < 16 ? "0" : "")\(digits)]"
      }.joined() + ": "
    }
    return ImagingError(code: code, message: "the PNG cannot be decoded: \(prefix ?? "")\(text)")
  }
}
