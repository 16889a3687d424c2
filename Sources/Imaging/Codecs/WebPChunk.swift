/// A chunk of a WebP file (RFC 9649 § 2.3): four letters, a length, the content, and a byte more when that is odd.
struct WebPChunk: Equatable {
  /// Four letters; `EXIF`, `VP8 `.
  let name: String
  /// Where it begins, in bytes from the file's beginning.
  let start: Int64
  /// Bytes of content.
  let count: Int

  /// Where its content begins.
  var content: Int64 { start + 8 }
  /// Where the next one begins.
  var end: Int64 { content + Int64(count + count % 2) }

  /// The bytes of a chunk with some content.
  static func encoded(_ name: String, _ content: some Collection<UInt8>) -> [UInt8] {
    Array(name.utf8) + littleEndian(content.count, bytes: 4) + content + (content.count % 2 == 1 ? [0] : [])
  }

  /// A number in little-endian bytes.
  static func littleEndian(_ value: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
