import Glibc

/// A stdio stream on a duplicate of a descriptor, closed with the object.
final class StdioStream {
  /// The stream.
  let file: UnsafeMutablePointer<FILE>

  /// A stream that reads from the beginning of a seekable file (dup(2), lseek(2), fdopen(3)).
  init(reading descriptor: Int32) throws(ImagingError) {
    file = try Self.open(descriptor, mode: "r")
    if lseek(descriptor, 0, SEEK_SET) < 0 {
      let code = errno
      fclose(file)
      throw .io(code, doing: "the picture cannot be read")
    }
  }

  /// A stream that writes at the current offset of a file.
  init(writing descriptor: Int32) throws(ImagingError) {
    file = try Self.open(descriptor, mode: "w")
  }

  private static func open(_ descriptor: Int32, mode: String) throws(ImagingError) -> UnsafeMutablePointer<FILE> {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .io(errno, doing: "the file cannot be used") }
    guard let file = fdopen(copy, mode) else {
      let code = errno
      close(copy)
      throw .io(code, doing: "the file cannot be used")
    }
    // A tenth of the system calls of the default buffer.
    setvbuf(file, nil, Int32(_IOFBF), 64 << 10)
    return file
  }

  /// Hands all that was written to the system.
  func flush() throws(ImagingError) {
    guard fflush(file) == 0 else { throw .io(errno, doing: "the result cannot be written") }
  }

  deinit { fclose(file) }
}
