import Glibc

/// Reads chunks of a WebP file without moving its offset (pread(2)).
struct WebPFile {
  /// Where the first chunk begins: after `RIFF`, the size and `WEBP`.
  static let firstChunk: Int64 = 12

  /// Where the last chunk ends, as the file says; what follows is not looked at.
  let end: Int64
  private let descriptor: Int32

  /// Looks at the head of the file behind a descriptor, which must stay open.
  /// - Throws: `image-truncated` when there is less than it says, `io`.
  init(_ descriptor: Int32) throws(ImagingError) {
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .io(errno, doing: "the picture cannot be read") }
    let head = try Self.bytes(12, of: descriptor, at: 0)
    guard head.count == 12 else { throw Self.truncated(Int64(status.st_size), 12) }
    end = 8 + Int64(Self.number(head[4..<8]))
    guard end <= Int64(status.st_size) else { throw Self.truncated(Int64(status.st_size), end) }
  }

  /// The chunk at a place; nil when there is no room for one before `limit`.
  /// - Throws: `image-corrupt` when its content goes beyond the limit, `io`.
  func chunk(at place: Int64, before limit: Int64) throws(ImagingError) -> WebPChunk? {
    guard place + 8 <= limit else { return nil }
    let head = try bytes(8, at: place)
    guard head.count == 8 else { return nil }
    let chunk = WebPChunk(
      name: String(decoding: head[..<4], as: UTF8.self), start: place, count: Self.number(head[4...]))
    guard chunk.content + Int64(chunk.count) <= limit else { throw .webp("a chunk goes beyond its end") }
    return chunk
  }

  /// Up to `count` bytes from a place; fewer at the file's end.
  func bytes(_ count: Int, at place: Int64) throws(ImagingError) -> [UInt8] {
    try Self.bytes(count, of: descriptor, at: place)
  }

  private static func bytes(_ count: Int, of descriptor: Int32, at place: Int64) throws(ImagingError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(place)) }
    guard read >= 0 else { throw .io(errno, doing: "the picture cannot be read") }
    buffer.removeSubrange(read...)
    return buffer
  }

  private static func truncated(_ size: Int64, _ expected: Int64) -> ImagingError {
    ImagingError(code: .imageTruncated, message: "the WebP has \(size) bytes of \(expected)")
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
}
