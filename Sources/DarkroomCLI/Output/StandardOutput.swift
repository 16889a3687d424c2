import Darkroom
import Glibc

/// Standard output: results, and what was asked for. Nothing is lost without a word: writing that fails is thrown or, where
/// the work matters more than being told of it, remembered.
final class StandardOutput {
  /// Standard output could not be written.
  struct Failure: Error, CustomStringConvertible {
    let cause: SystemError
    var isReaderGone: Bool { cause.code == EPIPE }
    var description: String { cause.description }
  }

  /// Why something could not be written that `tell` was to write. A reader that went away is no failure.
  private(set) var failure: Failure?

  private var buffer = ""

  /// Prints a line, some time before the next `flush` has ended.
  /// - Throws: `Failure`.
  func print(_ line: String) throws(Failure) {
    buffer += line
    buffer += "\n"
    if buffer.utf8.count >= 64 << 10 { try flush() }
  }

  /// Writes what has been printed.
  func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    defer { buffer = "" }
    do {
      try OpenFile.write(buffer, toStandard: STDOUT_FILENO, named: "standard output")
    } catch {
      throw Failure(cause: error)
    }
  }

  /// Prints a line at once. The program goes on, whether it can be written or not.
  /// - Returns: The failure, if it is the first.
  func tell(_ line: String) -> Failure? {
    do {
      try print(line)
      try flush()
    } catch  where !error.isReaderGone && failure == nil {
      failure = error
      return error
    } catch {
      // Told before; or the reader has gone away and no longer wants to know.
    }
    return nil
  }
}
