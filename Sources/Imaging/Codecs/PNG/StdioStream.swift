import Glibc

/// A stdio stream on a duplicate of a descriptor, closed with the object.
final class StdioStream {
  let file: UnsafeMutablePointer<FILE>
  private let buffer: UnsafeMutablePointer<CChar>

  /// The size of the buffer. The default of 4 KiB would need sixteen times as many system calls.
  private static let bufferBytes = 64 << 10

  /// Creates a stream that reads from the beginning of a seekable file (lseek(2)).
  convenience init(reading descriptor: Int32) throws(ImagingError) {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .io(errno, doing: "the picture cannot be read") }
    try self.init(descriptor, mode: "r")
  }

  /// Creates a stream that writes at the current offset of a file.
  convenience init(writing descriptor: Int32) throws(ImagingError) { try self.init(descriptor, mode: "w") }

  private init(_ descriptor: Int32, mode: String) throws(ImagingError) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .io(errno, doing: "the file cannot be used") }
    guard let file = fdopen(copy, mode) else {
      let code = errno
      close(copy)
      throw .io(code, doing: "the file cannot be used")
    }
    buffer = .allocate(capacity: Self.bufferBytes)
    setvbuf(file, buffer, Int32(_IOFBF), Self.bufferBytes)
    self.file = file
  }

  /// Writes the buffer to the system.
  func flush() throws(ImagingError) {
    guard fflush(file) == 0 else { throw .io(errno, doing: "the result cannot be written") }
  }

  deinit {
    fclose(file)
    buffer.deallocate()
  }
}
