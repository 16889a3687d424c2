/// EXIF in a text of a PNG file, as ImageMagick writes it, and wrote it before there was `eXIf`: a newline, a name, the number of
/// bytes in decimal, and the bytes in hexadecimal digits, in lines. It counts where there is no `eXIf`.
struct PNGRawProfile {
  /// The keyword as it is written.
  let keyword: [UInt8]
  /// The EXIF stream, without JPEG's identifier.
  let exif: [UInt8]

  /// The longest keyword and its terminator.
  static let keywordBytes = 22

  private static let keywords = ["raw profile type exif", "raw profile type app1"].map { Array($0.utf8) }
  private static let (lineFeed, space) = (UInt8(ascii: "\n"), UInt8(ascii: " "))
  private static let digits = Array("0123456789abcdef".utf8)
  private static let lineBytes = 36

  /// Whether a chunk holds such a text.
  /// - Parameter content: At least the first bytes of the chunk's content.
  static func isHeld(in name: [UInt8], _ content: some Collection<UInt8>) -> Bool {
    (name == PNGChunk.plainText || name == PNGChunk.compressedText) && keyword(of: content) != nil
  }

  /// The bytes of a chunk's content with which it is found out whether its text is EXIF, compressed or not.
  static let headBytes = 512
  /// Of a text: its name, its number, and the first digits.
  private static let textHeadBytes = 128

  /// Whether such a text begins as EXIF does: the keyword is also that of other profiles.
  /// - Parameter head: The first `headBytes` of the chunk's content, or all.
  static func isEXIF(_ name: [UInt8], _ head: [UInt8]) -> Bool {
    guard let keyword = keyword(of: head) else { return false }
    var text = head.dropFirst(keyword.count + 1)
    if name == PNGChunk.compressedText {
      guard text.first == 0 else { return false }
      text = Deflate.prefix(of: text.dropFirst(), count: textHeadBytes)[...]
    }
    let lines = text.prefix(textHeadBytes).split(separator: lineFeed, maxSplits: 2, omittingEmptySubsequences: true)
    guard lines.count == 3 else { return false }
    let digits = Array(lines[2].filter { $0 != lineFeed && $0 != space }.prefix(2 * Exif.identifier.count))
    let values: [UInt8] = digits.compactMap(value)
    let bytes = stride(from: 1, to: values.count, by: 2).map { values[$0 - 1] << 4 | values[$0] }
    return bytes.starts(with: Exif.identifier) || Exif(bytes) != nil
  }

  /// Whether the keyword of a text says that it is EXIF, not what JPEG has in the segments of EXIF and others.
  static func isCalledEXIF(_ head: [UInt8]) -> Bool { keyword(of: head)?.last.map { $0 | 0x20 } == UInt8(ascii: "f") }

  /// Reads the text in a chunk; nil when it is invalid, or no EXIF.
  init?(_ name: [UInt8], _ content: [UInt8]) {
    guard let keyword = Self.keyword(of: content) else { return nil }
    var text = content.dropFirst(keyword.count + 1)
    if name == PNGChunk.compressedText {
      // The compression method, and the stream.
      guard text.first == 0, let expanded = Deflate.expanded(text.dropFirst(), limit: 3 * ImageLimits.maxMetadataBytes)
      else { return nil }
      text = expanded[...]
    }
    guard let bytes = Self.bytes(in: text) else { return nil }
    self.keyword = keyword
    exif = bytes.starts(with: Exif.identifier) ? Array(bytes.dropFirst(Exif.identifier.count)) : bytes
  }

  /// The content of a chunk, not compressed, with another stream.
  func text(_ exif: Exif) -> [UInt8] {
    let bytes = Exif.identifier + exif.bytes
    var text = keyword + [0, Self.lineFeed] + "exif\n".utf8
    let count = Array(String(bytes.count).utf8)
    text += [UInt8](repeating: Self.space, count: max(8 - count.count, 0)) + count
    for (index, byte) in bytes.enumerated() {
      if index % Self.lineBytes == 0 { text.append(Self.lineFeed) }
      text += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
    }
    return text + [Self.lineFeed]
  }

  private static func keyword(of content: some Collection<UInt8>) -> [UInt8]? {
    let head = content.prefix(keywordBytes)
    guard let end = head.firstIndex(of: 0) else { return nil }
    let keyword = Array(head[..<end])
    let lowercase = keyword.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 + 32 : $0 }
    return keywords.contains(lowercase) ? keyword : nil
  }

  /// The bytes of a text; nil when it has other digits than it says.
  private static func bytes(in text: ArraySlice<UInt8>) -> [UInt8]? {
    let lines = text.split(separator: lineFeed, maxSplits: 2, omittingEmptySubsequences: true)
    guard lines.count == 3, let count = Int(String(decoding: lines[1].drop { $0 == space }, as: UTF8.self)) else {
      return nil
    }
    var (bytes, high): ([UInt8], UInt8?) = ([], nil)
    for digit in lines[2] where digit != lineFeed && digit != space {
      guard let value = value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil && bytes.count == count ? bytes : nil
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
