import Foundation

/// A system call that failed.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `errno`, e.g. `ENOSPC`.
  package let code: Int32

  /// What was being done, e.g. `open`.
  package let operation: String

  /// What it was done to.
  package let path: String

  /// Takes `errno` as the failed call left it.
  package init(_ operation: String, _ path: String, code: Int32 = errno) {
    self.code = code
    self.operation = operation
    self.path = path
  }

  package var description: String { "\(path): \(systemMessage(code)) (\(operation))" }

  /// What kind of failure it is.
  package var cause: ErrorCause { ErrorCause(errno: code) }

  /// Whether the file system has no room: `ENOSPC` or `EDQUOT`.
  package var isOutOfSpace: Bool { cause == .space }
}

/// The C library's message for an `errno` (`strerror_r`), such as `No space left on device`.
package func systemMessage(_ code: Int32) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
  return buffer.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
}
