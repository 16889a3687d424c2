/// Decides when a download that failed is tried again: exponential backoff with full jitter, as in "Exponential Backoff
/// And Jitter" (AWS Architecture Blog, 2015), unless the server says when.
package struct Backoff: Sendable, Equatable {
  /// Tries after the first.
  package var retries: Int

  /// Whether the operator has asked for that number: then requests are repeated that may have an effect, too.
  package var isGiven: Bool

  package init(retries: Int, isGiven: Bool = false) { (self.retries, self.isGiven) = (retries, isGiven) }

  /// The longest wait of our own, in seconds.
  package static let cap = 60.0

  /// The longest wait that a server may ask for, in seconds.
  package static let retryAfterCap = 600.0

  /// How long to wait before the next try, in seconds; nil when there is none.
  /// - Parameters:
  ///   - attempts: How many tries there were, this one included.
  ///   - asked: The wait that the server asked for, in seconds; nil when it did not.
  package func delay(attempts: Int, asked: Double?) -> Double? {
    guard attempts <= retries else { return nil }
    if let asked { return min(asked, Self.retryAfterCap) }
    return Double.random(in: 0...Self.limit(attempts: attempts))
  }

  /// Whether the refusals of one URL are its own, and no longer its host's, which serves others between them.
  /// - Parameters:
  ///   - own: How often the URL was refused.
  ///   - inRow: How often in a row the host has refused requests, without having served one.
  ///   - hasAsked: Whether the host says when the URL is to be asked for again. Then the entry has as many tries as after
  ///     other failures; else four times as many, since a limit on requests may hit the same entry several times.
  package func isRefusedItself(own: Int, inRow: Int, hasAsked: Bool) -> Bool {
    own > (hasAsked ? retries : 4 * retries + 3) && inRow < own
  }

  /// How long a host that refused a request is not asked, in seconds.
  /// - Parameters:
  ///   - asked: What it asked for; nil when it did not say.
  ///   - refusals: How often it refused in a row. The range of which the wait is drawn doubles with it, from ½ … 1 s to
  ///     30 … 60 s, as often as there are retries.
  package func hold(asked: Double?, refusals: Int) -> Double {
    if let asked { return min(asked, Self.retryAfterCap) }
    let limit = Self.limit(attempts: min(refusals, retries + 1))
    return Double.random(in: limit / 2...limit)
  }

  /// The upper end of the range of which the wait is drawn: 1, 2, 4… seconds.
  package static func limit(attempts: Int) -> Double { min(cap, Double(1 << min(max(0, attempts - 1), 30))) }
}

/// How long what the machine has failed waits before it is tried again: 1 s, then twice as long each time, 60 s at most.
package enum LocalBackoff {
  /// - Parameter attempts: How often it was tried in a row, from 1.
  package static func seconds(attempts: Int) -> Double { Double(min(60, 1 << min(6, max(0, attempts - 1)))) }
}
