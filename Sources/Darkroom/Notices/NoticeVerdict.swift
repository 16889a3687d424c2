import Ledger
import Model

/// The outcome of one try to process a notice.
enum NoticeOutcome: Sendable, Equatable {
  case done
  /// It is tried again, not earlier than the receiver asks for, in seconds.
  case failed(String, retryAfter: Double? = nil)
  /// It is not tried again.
  case rejected(String)
  /// The program is ending, and the try was broken off.
  case stopped
}

/// Decides what becomes of a notice after a try.
enum NoticeVerdict: Equatable {
  case remove
  case giveUp(why: String)
  case retry(LedgerNotice, why: String, seconds: Double)
  /// It stays as it is, for the next start.
  case leave

  /// How long after the end of its run a notice is given up, in milliseconds.
  static let lifetime = 24 * 3600 * 1000

  /// The longest wait between two tries, in seconds; and the longest that a receiver may ask for.
  static let maxWait = 600.0
  static let maxAsked = 3600.0

  /// - Parameter now: Milliseconds since 1970.
  init(_ notice: LedgerNotice, _ outcome: NoticeOutcome, now: Int) {
    switch outcome {
    case .done: self = .remove
    case .stopped: self = .leave
    case .rejected(let why): self = .giveUp(why: why)
    case .failed(let why, let asked):
      var next = notice
      next.attempts += 1
      let seconds = max(Self.wait(attempts: next.attempts), min(asked ?? 0, Self.maxAsked))
      let due = now + Int(seconds * 1000)
      next.due = due
      self =
        due - (notice.ended ?? now) > Self.lifetime
        ? .giveUp(why: "\(why), after \(next.attempts.of("try", "tries")) in 24 hours")
        : .retry(next, why: why, seconds: seconds)
    }
  }

  /// 1, 2, 4… seconds.
  static func wait(attempts: Int) -> Double { min(maxWait, Double(1 << min(max(0, attempts - 1), 20))) }

  /// How long until a notice is due, in seconds; 0 when it is. A time beyond the longest wait means that the clock was set back:
  /// the notice is due.
  static func wait(for notice: LedgerNotice, now: Int) -> Double {
    let seconds = Double((notice.due ?? now) - now) / 1000
    return (0...maxAsked).contains(seconds) ? seconds : 0
  }
}
