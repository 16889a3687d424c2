import Glibc

/// Why a picture was not processed.
package struct ImagingError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. Raw values are stable and appear in reports; messages may change.
  package enum Code: String, Sendable, CaseIterable {
    /// The file is not a picture, or empty.
    case notAnImage = "not-an-image"
    /// The picture's format or kind is not supported.
    case unsupportedFormat = "unsupported-format"
    /// The picture's data contradict themselves.
    case imageCorrupt = "image-corrupt"
    /// The file ends before the picture does.
    case imageTruncated = "image-truncated"
    /// The picture or the result exceeds a limit.
    case imageTooLarge = "image-too-large"
    /// The picture is below the limit for sources.
    case imageTooSmall = "image-too-small"
    /// The picture was read, but the result cannot be made.
    case filterFailed = "filter-failed"
    /// The decoding process ended, or exceeded its time.
    case decoderCrashed = "decoder-crashed"
    /// The system failed to read or write; `systemError` has the reason.
    case io
    /// The caller asked to stop.
    case cancelled
  }

  package let code: Code
  /// One line for people, with the thing, the limit and the value.
  package let message: String
  /// errno(3), for `io` only; 0 otherwise.
  package let systemError: Int32

  /// Creates an error of any code but `io`.
  package init(code: Code, message: String) {
    self.code = code
    self.message = message
    systemError = 0
  }

  /// Creates an `io` error from an errno(3).
  package init(systemError: Int32, message: String) {
    code = .io
    self.message = message
    self.systemError = systemError
  }

  /// Creates an `io` error. `doing` says what failed; strerror(3) is appended.
  static func io(_ systemError: Int32, doing: String) -> ImagingError {
    ImagingError(systemError: systemError, message: "\(doing): \(String(cString: strerror(systemError)))")
  }

  /// Thrown when `isCancelled` returns true.
  package static let cancelled = ImagingError(code: .cancelled, message: "cancelled")

  package var description: String { "\(code.rawValue): \(message)" }
}
