/// Decides whether an entry whose retries are used up is tried again later, and when.
///
/// As a mail server does with deferred mail (postfix's `minimal_backoff_time`, `maximal_backoff_time` and
/// `maximal_queue_lifetime`): the interval is the entry's age, within limits, so that intervals double; some jitter keeps
/// entries that failed together from coming back together. The last try comes when the time is over.
package struct Deferral: Sendable, Equatable {
  /// How long after an entry's first try it is tried again, in seconds; 0 turns deferral off.
  package var seconds: Double

  package init(seconds: Double = 0) { self.seconds = seconds }

  /// The shortest interval, in seconds, unless a tenth of the whole time is shorter.
  package static let shortest = 60.0

  /// The longest interval of our own, in seconds.
  package static let longest = 3600.0

  /// How much shorter an interval may be drawn.
  package static let jitter = 0.25

  /// The interval for an entry of an age, in seconds, before jitter.
  package func interval(age: Double) -> Double {
    min(Self.longest, max(age, min(Self.shortest, seconds / 10)))
  }

  /// The wait before a retry, if that comes before the time is over; nil when it does not. Without deferral there is no
  /// such time.
  /// - Parameters:
  ///   - waitSeconds: The wait.
  ///   - ageMilliseconds: How long ago the entry was first tried.
  /// - Returns: In seconds.
  package func allowed(waitSeconds: Double, ageMilliseconds: Int) -> Double? {
    seconds > 0 && waitSeconds * 1000 > seconds * 1000 - Double(ageMilliseconds) ? nil : waitSeconds
  }

  /// How long to wait before the next try, in milliseconds; nil when there is none: the time is over, or will be before
  /// the server may be asked again.
  /// - Parameters:
  ///   - age: How long ago the entry was first tried, in milliseconds.
  ///   - asked: The wait that the server asked for, in seconds; nil when it did not.
  package func wait(age: Int, asked: Double?) -> Int? {
    let left = Int(seconds * 1000) - age
    guard left > 0, (asked ?? 0) * 1000 <= Double(left) else { return nil }
    let interval = interval(age: Double(age) / 1000)
    let drawn = Double.random(in: interval * (1 - Self.jitter)...interval)
    return min(left, Int((max(drawn, asked ?? 0) * 1000).rounded(.up)))
  }
}
