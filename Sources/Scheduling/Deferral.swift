/// Decides whether an entry whose retries are used up is tried again later, and when.
///
/// As a mail server does with deferred mail (postfix's `minimal_backoff_time`, `maximal_backoff_time` and
/// `maximal_queue_lifetime`): the interval is the entry's age, within limits, so that intervals double; jitter spreads
/// entries that failed together. The last try is at the end of the time.
package struct Deferral: Sendable, Equatable {
  /// How long after an entry's first try it is tried again, in seconds; 0 turns deferral off.
  package var seconds: Double

  package init(seconds: Double = 0) { self.seconds = seconds }

  /// The shortest interval, in seconds, unless a tenth of the whole time is shorter.
  package static let shortest = 60.0

  /// The longest interval without a server's request, in seconds.
  package static let longest = 3600.0

  /// The share by which an interval may be shortened at random.
  package static let jitter = 0.25

  /// The interval for an entry of this age, in seconds, before jitter.
  package func interval(age: Double) -> Double { min(Self.longest, max(age, min(Self.shortest, seconds / 10))) }

  /// The wait before a retry; nil when the retry would be after the end of the time. Without deferral there is no such
  /// end.
  /// - Parameters:
  ///   - waitSeconds: The wait.
  ///   - ageMilliseconds: How long ago the entry was first tried.
  /// - Returns: In seconds.
  package func allowed(waitSeconds: Double, ageMilliseconds: Int) -> Double? {
    seconds > 0 && waitSeconds * 1000 > seconds * 1000 - Double(ageMilliseconds) ? nil : waitSeconds
  }

  /// How long to wait before the next try, in milliseconds; nil when there is none: the time is over, or will be before the
  /// server may be asked again.
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
