import Glibc

/// Reads parts of an open file without moving its offset (pread(2)).
struct FileReader {
  private let descriptor: Int32
  private let isCancelled: () -> Bool

  /// Creates a reader of a seekable file, which is not closed.
  /// - Parameter isCancelled: Called before every read; when it returns true the read throws `cancelled`.
  init(_ descriptor: Int32, isCancelled: @escaping () -> Bool = { false }) {
    (self.descriptor, self.isCancelled) = (descriptor, isCancelled)
  }

  /// The file's size in bytes. The offset is at the end afterwards.
  ///
  /// Not fstat: glibc uses newfstatat, which a confined process may not call because it also takes paths.
  /// - Throws: `io`.
  func size() throws(ImagingError) -> Int64 {
    let size = Int64(lseek(descriptor, 0, SEEK_END))
    guard size >= 0 else { throw .io(errno, doing: "the picture cannot be read") }
    return size
  }

  /// Reads up to `count` bytes from an offset; fewer at the file's end.
  /// - Throws: `io`, `cancelled`.
  func bytes(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] {
    if isCancelled() { throw .cancelled }
    // The standard library would write the size of the shared empty array, which is a data race.
    if count == 0 { return [] }
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var read: Int
      repeat { read = pread(descriptor, buffer.baseAddress, count, off_t(offset)) } while read < 0 && errno == EINTR
      if read < 0 { failure = errno }
      initialized = max(read, 0)
    }
    guard failure == 0 else { throw .io(failure, doing: "the picture cannot be read") }
    return bytes
  }
}
