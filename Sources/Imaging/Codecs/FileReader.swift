import Glibc

/// Reads parts of an open file without moving its offset (pread(2)).
struct FileReader {
  private let descriptor: Int32

  /// Creates a reader of a seekable file, which is not closed.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Reads up to `count` bytes from an offset; fewer at the file's end.
  /// - Throws: `io`.
  func bytes(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
    guard read >= 0 else { throw .io(errno, doing: "the picture cannot be read") }
    buffer.removeSubrange(read...)
    return buffer
  }
}
