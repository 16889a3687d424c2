import Glibc

/// Reads parts of an open file without moving its offset (pread(2)).
struct FileReader {
  /// The beginning of the file, which is read once: it has most headers, and small files whole.
  private final class Beginning {
    static let size = 4 << 10
    var bytes: [UInt8]?

    /// Whether the file has no other bytes.
    var isWholeFile = false
  }

  private let descriptor: Int32
  private let isCancelled: () -> Bool
  private let beginning = Beginning()

  /// Creates a reader of a seekable file, which is not closed.
  /// - Parameter isCancelled: Called before every read; when it returns true the read throws `cancelled`.
  init(_ descriptor: Int32, isCancelled: @escaping () -> Bool = { false }) {
    (self.descriptor, self.isCancelled) = (descriptor, isCancelled)
  }

  /// The file's size in bytes. The offset may be at the end afterwards.
  ///
  /// Not fstat: glibc uses newfstatat, which a confined process may not call because it also takes paths.
  /// - Throws: `io`.
  func size() throws(ImagingError) -> Int64 {
    if let bytes = beginning.bytes, beginning.isWholeFile { return Int64(bytes.count) }
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
    guard (0..<Int64(Beginning.size)).contains(offset) else { return try read(count, at: offset) }
    if beginning.bytes == nil {
      let bytes = try read(Beginning.size, at: 0)
      (beginning.bytes, beginning.isWholeFile) = (bytes, bytes.count < Beginning.size)
    }
    guard let bytes = beginning.bytes, beginning.isWholeFile || offset + Int64(count) <= Beginning.size
    else { return try read(count, at: offset) }
    return Array(bytes.dropFirst(Int(offset)).prefix(count))
  }

  /// Reads until all bytes are there or the file ends: some file systems return fewer at a time.
  private func read(_ count: Int, at offset: Int64) throws(ImagingError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while initialized < count, failure == 0 {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[initialized..<count])
        let read = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(initialized))
        if read == 0 { break }
        if read > 0 { initialized += read } else if errno != EINTR { failure = errno }
      }
    }
    guard failure == 0 else { throw .io(failure, doing: "the picture cannot be read") }
    return bytes
  }
}
