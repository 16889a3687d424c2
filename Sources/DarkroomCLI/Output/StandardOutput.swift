import Glibc
import System

/// Standard output, buffered. A write error is thrown or, where the work goes on, kept in `failure`.
final class StandardOutput {
  /// Standard output could not be written.
  struct Failure: Error, CustomStringConvertible {
    let cause: SystemError
    var isReaderGone: Bool { cause.code == EPIPE }
    var description: String { cause.description }
  }

  /// The first failure of `printNow`. A reader that went away does not count.
  private(set) var failure: Failure?

  let descriptor: Int32

  private var buffer = ""

  init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

  /// Adds a line to the buffer, which `flush` writes.
  func print(_ line: String) throws(Failure) {
    buffer += line
    buffer += "\n"
    if buffer.utf8.count >= 64 << 10 { try flush() }
  }

  func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    defer { buffer = "" }
    do {
      try OpenFile.write(buffer, to: descriptor, named: "standard output")
    } catch {
      throw Failure(cause: error)
    }
  }

  /// Prints a line at once. A failure does not stop the program.
  /// - Returns: The failure, if it is the first.
  func printNow(_ line: String) -> Failure? {
    do {
      try print(line)
      try flush()
    } catch  where !error.isReaderGone && failure == nil {
      failure = error
      return error
    } catch {
      // Reported before, or the reader has gone away.
    }
    return nil
  }
}
