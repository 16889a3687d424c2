import Transfer

/// Decides whether and when a download that failed is tried again: exponential backoff with full jitter, as in
/// "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), unless the server says when.
package struct Backoff: Sendable, Equatable {
  /// Tries after the first.
  package var retries: Int

  /// The longest wait of our own, in seconds.
  static let cap = 60.0

  /// The longest wait that a server may ask for, in seconds.
  static let retryAfterCap = 600.0

  /// How long to wait before the next try, in seconds; nil when there is none.
  /// - Parameter attempts: How many tries there were, this one included.
  func delay(after failure: EntryFailure, attempts: Int) -> Double? {
    guard failure.isRetryable, attempts <= retries else { return nil }
    return Self.wait(after: failure, attempts: attempts)
  }

  /// How long the whole host is to be left alone, in seconds: after 429, and after 503 with `Retry-After`; nil after
  /// all else.
  func hold(after failure: EntryFailure, attempts: Int) -> Double? {
    let isAsked = failure.httpStatus == 429 || failure.httpStatus == 503 && failure.retryAfter != nil
    return failure.isRetryable && isAsked ? Self.wait(after: failure, attempts: attempts) : nil
  }

  private static func wait(after failure: EntryFailure, attempts: Int) -> Double {
    if let asked = failure.retryAfter { return min(asked, retryAfterCap) }
    return Double.random(in: 0...limit(attempts: attempts))
  }

  /// The upper end of the range of which the wait is drawn: 1, 2, 4… seconds.
  static func limit(attempts: Int) -> Double { min(cap, Double(1 << min(max(0, attempts - 1), 30))) }
}
