/// A stretch of time in which a job's queues were suspended for one cause.
package struct LedgerPause: Sendable, Equatable {
  package let cause: String

  /// The lock's name; empty when the cause is not a lock.
  package let lock: String
  package let reason: String?

  /// Milliseconds since 1970, UTC.
  package let began: Int

  /// Milliseconds since 1970, UTC; nil while it lasts.
  package var ended: Int?

  package init(cause: String, lock: String, reason: String?, began: Int, ended: Int? = nil) {
    self.cause = cause
    self.lock = lock
    self.reason = reason
    self.began = began
    self.ended = ended
  }

  /// The part of the pause from a time on, in milliseconds since 1970.
  package func clipped(to start: Int) -> LedgerPause {
    LedgerPause(cause: cause, lock: lock, reason: reason, began: max(start, began), ended: ended)
  }
}
