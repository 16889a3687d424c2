/// Reads the chunks of a WebP file.
struct WebPFile {
  /// The offset of the first chunk: after `RIFF`, the size and `WEBP`.
  static let firstChunk: Int64 = 12

  /// The end of the last chunk according to the header; bytes after it are ignored.
  let end: Int64
  private let file: FileReader

  /// Reads the header of a file.
  /// - Throws: `image-truncated` when the file is shorter than the header's size, `io`.
  init(_ file: FileReader) throws(ImagingError) {
    self.file = file
    let size = try file.size()
    let head = try file.bytes(12, at: 0)
    guard head.count == 12 else { throw Self.truncated(size, 12) }
    end = 8 + Int64(head[4..<8].littleEndianInteger)
    guard end <= size else { throw Self.truncated(size, end) }
  }

  /// Reads the header of the chunk at an offset; nil when there is no room for one before `limit`.
  /// - Throws: `image-corrupt` when its content extends beyond the limit, `io`.
  func chunk(at offset: Int64, before limit: Int64) throws(ImagingError) -> WebPChunk? {
    guard offset + 8 <= limit else { return nil }
    let head = try bytes(8, at: offset)
    guard head.count == 8 else { return nil }
    let chunk = WebPChunk(
      name: String(decoding: head[..<4], as: UTF8.self), start: offset, count: head[4...].littleEndianInteger)
    guard chunk.content + Int64(chunk.count) <= limit else { throw .webp("a chunk goes beyond its end") }
    return chunk
  }

  /// Reads up to `count` bytes from an offset; fewer at the file's end.
  func bytes(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] { try file.bytes(count, at: offset) }

  private static func truncated(_ size: Int64, _ expected: Int64) -> ImagingError {
    ImagingError(code: .imageTruncated, message: "the WebP has \(size) bytes of \(expected)")
  }
}

/// A chunk of a WebP file (RFC 9649 § 2.3): four letters, a length, and the content, padded to an even length.
struct WebPChunk: Equatable {
  /// Four letters; `EXIF`, `VP8 `.
  let name: String
  let start: Int64
  /// Bytes of content.
  let count: Int

  /// The offset of the content.
  var content: Int64 { start + 8 }
  /// The offset of the next chunk.
  var end: Int64 { content + Int64(count + count % 2) }

  /// Returns the bytes of a chunk.
  static func encoded(_ name: String, _ content: some Collection<UInt8>) -> [UInt8] {
    Array(name.utf8) + [UInt8](littleEndian: content.count, count: 4) + content + (content.count % 2 == 1 ? [0] : [])
  }
}
