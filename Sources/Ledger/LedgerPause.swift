import Database

/// A period in which a job's queues were suspended for one cause.
package struct LedgerPause: Sendable, Equatable, DatabaseRecord {
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

  package static let columns: Columns = ["cause", "lock", "reason", "began_ms", "ended_ms"]

  package init(_ row: Statement) {
    self.init(
      cause: row.text(0) ?? "", lock: row.text(1) ?? "", reason: row.text(2), began: row.integer(3),
      ended: row.optionalInteger(4))
  }

  package var values: [SQLiteValue] {
    [.text(cause), .text(lock), .optional(reason), .integer(began), .optional(ended)]
  }
}

extension [LedgerPause] {
  /// The length of time, in seconds, that at least one of these pauses lasted.
  package func paused(until now: Int) -> Double {
    var (total, reached) = (0, Int.min)
    for pause in sorted(by: { $0.began < $1.began }) {
      let end = Swift.max(pause.began, pause.ended ?? now)
      total += Swift.max(0, end - Swift.max(pause.began, reached))
      reached = Swift.max(reached, end)
    }
    return Double(total) / 1000
  }
}
