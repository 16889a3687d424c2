/// Decides when a download that failed is tried again: exponential backoff with full jitter, as in "Exponential Backoff
/// And Jitter" (AWS Architecture Blog, 2015), unless the server says when.
package struct Backoff: Sendable, Equatable {
  /// Tries after the first.
  package var retries: Int

  /// Whether the operator has set the number of retries: then requests that may have side effects are repeated, too.
  package var isGiven: Bool

  package init(retries: Int, isGiven: Bool = false) { (self.retries, self.isGiven) = (retries, isGiven) }

  /// The longest wait without a server's request, in seconds.
  package static let cap = 60.0

  /// The longest wait that a server may ask for, in seconds.
  package static let retryAfterCap = 600.0

  /// How long to wait before the next try, in seconds; nil when there is none.
  /// - Parameters:
  ///   - attempts: How many tries there were, including this one.
  ///   - asked: The wait that the server asked for, in seconds; nil when it did not.
  package func delay(attempts: Int, asked: Double?) -> Double? {
    guard attempts <= retries else { return nil }
    if let asked { return min(asked, Self.retryAfterCap) }
    return Double.random(in: 0...Self.limit(attempts: attempts))
  }

  /// Whether a URL, not its host, causes its refusals: the host serves other requests between them.
  /// - Parameters:
  ///   - own: How often the URL was refused.
  ///   - inRow: How often in a row the host has refused requests, without having served one.
  ///   - hasAsked: Whether the host says when to ask for the URL again. Then the entry has as many tries as after other
  ///     failures; else four times as many, since a limit on requests may hit the same entry several times.
  package func isRefusedItself(own: Int, inRow: Int, hasAsked: Bool) -> Bool {
    own > (hasAsked ? retries : 4 * retries + 3) && inRow < own
  }

  /// How long a host that refused a request is on hold, in seconds.
  /// - Parameters:
  ///   - asked: The hold that it asked for; nil when it did not say.
  ///   - refusals: How often it refused in a row. The range from which the wait is drawn doubles each time, from ½ … 1 s to
  ///     30 … 60 s, as often as there are retries.
  package func hold(asked: Double?, refusals: Int) -> Double {
    if let asked { return min(asked, Self.retryAfterCap) }
    let limit = Self.limit(attempts: min(refusals, retries + 1))
    return Double.random(in: limit / 2...limit)
  }

  /// The upper end of the range from which the wait is drawn: 1, 2, 4… seconds.
  package static func limit(attempts: Int) -> Double { min(cap, Double(1 << min(max(0, attempts - 1), 30))) }
}

/// The backoff after failures of the machine: 1 s, then twice as long each time, 60 s at most.
package enum LocalBackoff {
  /// - Parameter attempts: How often it was tried in a row, from 1.
  package static func seconds(attempts: Int) -> Double { Double(min(60, 1 << min(6, max(0, attempts - 1)))) }
}
