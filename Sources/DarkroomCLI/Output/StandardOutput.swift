import Darkroom
import Glibc

/// Standard output: results, and what was asked for. Nothing is lost without a word: writing that fails is thrown or, where
/// the work matters more than being told of it, remembered.
final class StandardOutput {
  /// Why something could not be written that `tell` was to write. A reader that went away is no failure.
  private(set) var failure: SystemError?

  private var buffer = ""

  /// Prints a line, some time before the next `flush` has ended.
  /// - Throws: `SystemError`; its code is `EPIPE` when the reader has gone away.
  func print(_ line: String) throws(SystemError) {
    buffer += line
    buffer += "\n"
    if buffer.utf8.count >= 64 << 10 { try flush() }
  }

  /// Writes what has been printed.
  func flush() throws(SystemError) {
    guard !buffer.isEmpty else { return }
    defer { buffer = "" }
    try OpenFile.write(buffer, toStandard: STDOUT_FILENO, named: "standard output")
  }

  /// Prints a line at once. The program goes on, whether it can be written or not.
  /// - Returns: The failure, if it is the first.
  func tell(_ line: String) -> SystemError? {
    do {
      try print(line)
      try flush()
    } catch  where error.code != EPIPE && failure == nil {
      failure = error
      return error
    } catch {
      // Told before; or the reader has gone away and no longer wants to know.
    }
    return nil
  }
}
