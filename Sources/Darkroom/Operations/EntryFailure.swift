import Imaging
import Transfer

/// Why an entry failed: a row of the report, never a reason to stop the program.
struct EntryFailure: Error, Sendable, Equatable {
  /// Where on its way the entry failed.
  enum Stage: String, Sendable { case download, filter, outbox, plan }

  let stage: Stage

  /// One of the contract's error codes.
  let code: String

  /// For people; names the thing, the limit and the value.
  let message: String
  var httpStatus: Int?
  var isRetryable = false

  /// How long the server asks to be left alone, in seconds.
  var retryAfter: Double?

  /// Whether there was no room for a file of ours: then the entry waits until there is.
  var isOutOfSpace = false

  /// Whether it tells nothing of the entry: a copy in the cache was no good. Then the entry is begun again.
  var isOfCache = false

  /// Whether it is the host that asks to be left alone: with 429, or with 503 and `Retry-After`.
  var isRefusal: Bool { isRetryable && (httpStatus == 429 || httpStatus == 503 && retryAfter != nil) }
}

extension EntryFailure {
  init(_ error: TransferError) {
    self.init(
      stage: error.code == .io ? .outbox : .download, code: error.code.rawValue, message: error.message,
      httpStatus: error.httpStatus, isRetryable: error.isRetryable, retryAfter: error.retryAfter,
      isOutOfSpace: error.systemError.map(SystemError.isOutOfSpace) ?? false)
  }

  init(_ error: ImagingError) {
    self.init(
      stage: error.code == .io ? .outbox : .filter, code: error.code.rawValue, message: error.message,
      isOutOfSpace: SystemError.isOutOfSpace(error.systemError))
  }

  /// What the cache had was not there any more, or was damaged.
  static let cache = EntryFailure(
    stage: .outbox, code: "io", message: "the cache's copy of the source is damaged", isOfCache: true)

  init(_ error: SystemError) {
    self.init(stage: .outbox, code: "io", message: error.description, isOutOfSpace: error.isOutOfSpace)
  }
}
