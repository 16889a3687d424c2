/// A box of the ISO base media file format (ISO/IEC 14496-12 § 4.2).
struct HEIFBox {
  /// Four characters.
  let type: String
  /// The offsets of its first byte and of its content.
  let start, content: Int64
  /// The offset behind its last byte, which may be behind the file's end.
  let end: Int64

  /// The box at another offset.
  func moved(by distance: Int64) -> HEIFBox {
    HEIFBox(type: type, start: start + distance, content: content + distance, end: end + distance)
  }

  /// The box as far as it is in a file of this size.
  func clamped(to size: Int64) -> HEIFBox {
    HEIFBox(type: type, start: start, content: content, end: max(content, min(end, size)))
  }

  private init(type: String, start: Int64, content: Int64, end: Int64) {
    (self.type, self.start, self.content, self.end) = (type, start, content, end)
  }

  /// Reads the header of a box.
  /// - Parameters:
  ///   - bytes: Some bytes from the box's first one on, of which 16 are enough.
  ///   - offset: The offset of its first byte.
  ///   - limit: The end of a box that reaches to the end of what it is in.
  /// - Returns: nil when there are too few bytes.
  /// - Throws: `image-corrupt` when the box is shorter than its header.
  init?(_ bytes: ArraySlice<UInt8>, at offset: Int64, before limit: Int64) throws(ImagingError) {
    var reader = HEIFReader(bytes)
    guard let size = reader.integer(4), let type = reader.text(4) else { return nil }
    var (length, header) = (Int64(size), Int64(8))
    if size == 1 {
      guard let large = reader.integer(8) else { return nil }
      (length, header) = (Int64(large), 16)
    } else if size == 0 {
      length = max(limit - offset, header)
    }
    let (end, overflow) = offset.addingReportingOverflow(length)
    guard length >= header, !overflow else { throw .heif("a box is shorter than its header") }
    self.init(type: type, start: offset, content: offset + header, end: end)
  }
}

/// Reads integers and texts of a box's content, each checked against its end.
struct HEIFReader {
  /// What is left.
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Reads `count` bytes; nil when there are fewer.
  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Reads a big-endian integer of up to 8 bytes; nil when there are fewer, or when it is larger than `Int.max`.
  mutating func integer(_ count: Int) -> Int? {
    guard let bytes = bytes(count) else { return nil }
    return Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// Reads a text of a fixed length.
  mutating func text(_ count: Int) -> String? { bytes(count).map { String(decoding: $0, as: UTF8.self) } }

  /// Reads a text up to a zero, or up to the end. Of a longer one it has 256 bytes: to compare many marks would take long.
  mutating func text() -> String {
    let text = rest.prefix { $0 != 0 }
    rest = rest.dropFirst(text.count + 1)
    return String(decoding: text.prefix(256), as: UTF8.self)
  }

  /// Reads the version and the flags of a full box.
  mutating func versionAndFlags() -> (version: Int, flags: Int)? {
    guard let version = integer(1), let flags = integer(3) else { return nil }
    return (version, flags)
  }

  /// Reads the next box, which must be here as a whole; nil at the end. Its offsets are indices of the slice.
  mutating func box() throws(ImagingError) -> (box: HEIFBox, content: HEIFReader)? {
    guard !rest.isEmpty else { return nil }
    guard let box = try HEIFBox(rest.prefix(16), at: Int64(rest.startIndex), before: Int64(rest.endIndex)),
      box.end <= rest.endIndex
    else { throw .heif("a box is longer than the one that it is in") }
    defer { rest = rest[Int(box.end)...] }
    return (box, HEIFReader(rest[Int(box.content)..<Int(box.end)]))
  }
}

extension ImagingError {
  static func heif(_ what: String) -> ImagingError {
    ImagingError(code: .imageCorrupt, message: "the HEIF file cannot be decoded: \(what)")
  }

  static let truncatedHEIF = ImagingError(code: .imageTruncated, message: "the HEIF file ends before its picture does")
}
