/// Walks through the blocks of a GIF file (GIF89a specification), without giflib.
struct GIFBlocks {
  enum Block {
    case frame(GIFFrame)
    /// Applies to the next frame.
    case control
    case icc([UInt8])
    case xmp([UInt8])
    /// A comment, an application's data, or an extension that is not known.
    case metadata
    /// A part of the picture or of the animation: text, or the number of repetitions.
    case other
  }

  /// How a file ends.
  enum Ending: Equatable {
    /// With a trailer.
    case complete
    /// After a whole block, without a trailer: nothing is missing that would be shown.
    case withoutTrailer
    /// Within a block.
    case truncated
    /// With a byte that begins no block.
    case invalid
  }

  /// The size of the logical screen; a side may be 0.
  let width, height: Int
  /// Set when `next` has returned nil.
  private(set) var ending: Ending?

  private let file: FileReader
  private let globalColours: [UInt8]
  private let readsMetadata: Bool
  private var reader: SequentialReader
  private var transparent: Int?

  /// Reads the header, the logical screen, and the global colour table.
  /// - Parameter readsMetadata: Whether the content of metadata is read; if not, it is `metadata` or `other`.
  /// - Throws: `image-truncated`, `io`, `cancelled`.
  init(_ file: FileReader, readsMetadata: Bool = true) throws(ImagingError) {
    (self.file, self.readsMetadata) = (file, readsMetadata)
    reader = SequentialReader(file)
    guard let header = try reader.next(Self.headerBytes).map(Array.init),
      let colours = try reader.next(Self.tableBytes(header[10]))
    else { throw .truncatedGIF }
    (width, height) = (header[6..<8].littleEndianInteger, header[8..<10].littleEndianInteger)
    globalColours = Array(colours)
  }

  /// The offset behind the last block.
  var offset: Int64 { reader.offset }

  /// The next block; nil at the end.
  /// - Throws: `image-corrupt` when a frame has no pixels, `io`, `cancelled`.
  mutating func next() throws(ImagingError) -> Block? {
    guard ending == nil else { return nil }
    let start = offset
    guard let introducer = try reader.next() else { return end(.withoutTrailer) }
    switch introducer {
    case 0x2C: return try readFrame(from: start)
    case 0x21: return try readExtension()
    case 0x3B: return end(.complete)
    default: return end(.invalid)
    }
  }

  private mutating func end(_ ending: Ending) -> Block? {
    self.ending = ending
    return nil
  }

  /// The signature, and the descriptor of the logical screen.
  private static let headerBytes = 13

  /// The bytes of the colour table that flags announce.
  private static func tableBytes(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

  private mutating func readFrame(from start: Int64) throws(ImagingError) -> Block? {
    guard let head = try reader.next(9).map(Array.init), let own = try reader.next(Self.tableBytes(head[8])),
      try reader.next() != nil
    else { return end(.truncated) }
    let frame = try GIFFrame(
      head, at: start, colours: own.isEmpty ? globalColours[...] : own, transparent: transparent)
    transparent = nil
    // A frame whose data end too early is returned all the same: only those of the first are decoded.
    if !(try skipSubBlocks()) { ending = .truncated }
    return .frame(frame)
  }

  private mutating func readExtension() throws(ImagingError) -> Block? {
    guard let label = try reader.next(), let count = try reader.next() else { return end(.truncated) }
    let content = offset + Int64(count)
    guard let first = try reader.next(Int(count)).map(Array.init) else { return end(.truncated) }
    if count > 0, !(try skipSubBlocks()) { return end(.truncated) }
    switch label {
    case 0xF9:
      guard count >= 4 else { return .other }
      transparent = first[0] & 1 == 0 ? nil : Int(first[3])
      return .control
    case 0xFF: return try application(String(decoding: first, as: UTF8.self), content..<offset)
    case 0x01: return .other
    default: return .metadata
    }
  }

  /// - Parameter range: The sub-blocks after the one with the name.
  private func application(_ name: String, _ range: Range<Int64>) throws(ImagingError) -> Block {
    let isRead = readsMetadata && range.count <= ImageLimits.maxMetadataBytes
    switch name {
    case "NETSCAPE2.0", "ANIMEXTS1.0": return .other
    case "ICCRGBG1012": return isRead ? .icc(Self.joined(try file.bytes(range.count, at: range.lowerBound))) : .other
    case "XMP DataXMP":
      guard isRead, let packet = Self.packet(in: try file.bytes(range.count, at: range.lowerBound)) else { break }
      return .xmp(packet)
    default: break
    }
    return .metadata
  }

  /// Skips to behind the next empty sub-block; returns whether there is one.
  private mutating func skipSubBlocks() throws(ImagingError) -> Bool {
    while let count = try reader.next() {
      if count == 0 { return true }
      reader.skip(Int(count))
    }
    return false
  }

  /// The content of sub-blocks.
  private static func joined(_ blocks: [UInt8]) -> [UInt8] {
    var (result, index) = ([UInt8](), 0)
    while index < blocks.count, blocks[index] != 0 {
      result += blocks[(index + 1)...].prefix(Int(blocks[index]))
      index += 1 + Int(blocks[index])
    }
    return result
  }

  /// An XMP packet, which is not divided into sub-blocks: the 257 bytes after it, from 1 and 255 down to 0, lead readers that
  /// take its bytes for sizes to the end (XMP specification, part 3, § 1.1.2). nil without them.
  private static func packet(in bytes: [UInt8]) -> [UInt8]? {
    let trailer = bytes.suffix(258)
    guard trailer.count == 258, trailer.starts(with: [0x01, 0xFF, 0xFE]) else { return nil }
    return Array(bytes.dropLast(258))
  }
}
