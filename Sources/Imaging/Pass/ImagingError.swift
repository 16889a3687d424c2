import Glibc

/// Why a picture was not processed.
package struct ImagingError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Raw values are stable and appear in reports; messages may change.
  package enum Code: String, Sendable, CaseIterable {
    /// The file is something else than a picture, or empty.
    case notAnImage = "not-an-image"
    /// A picture, but of a format or kind that is not read.
    case unsupportedFormat = "unsupported-format"
    /// The picture's data contradict themselves.
    case imageCorrupt = "image-corrupt"
    /// The file ends before the picture does.
    case imageTruncated = "image-truncated"
    /// A limit would be exceeded.
    case imageTooLarge = "image-too-large"
    /// The picture could be read, but not made into what was asked for.
    case filterFailed = "filter-failed"
    /// The system failed to read or write; `systemError` tells how.
    case io
    /// The caller asked to stop.
    case cancelled
  }

  /// The kind of failure.
  package let code: Code
  /// One line for people: the thing, the limit, the value.
  package let message: String
  /// errno(3), for `io` only; 0 otherwise.
  package let systemError: Int32

  /// An error of any code but `io`.
  package init(code: Code, message: String) {
    self.code = code
    self.message = message
    systemError = 0
  }

  private init(systemError: Int32, message: String) {
    code = .io
    self.message = message
    self.systemError = systemError
  }

  /// A failure of the system. `doing` says what did not work; the system's words are added.
  static func io(_ systemError: Int32, doing: String) -> ImagingError {
    ImagingError(systemError: systemError, message: "\(doing): \(String(cString: strerror(systemError)))")
  }

  /// The answer to `isCancelled`.
  static let cancelled = ImagingError(code: .cancelled, message: "cancelled")

  /// The code and the message.
  package var description: String { "\(code.rawValue): \(message)" }
}
