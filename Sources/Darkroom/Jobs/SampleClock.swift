/// Tells when it is found out what bounds the runs: whenever the loop wakes, and a while has passed since it last was. What
/// is found then was so while the loop waited, since nothing has been handled yet: it holds at the moment at which the while
/// was over, and is taken to hold for all of the time since the last sample. Times are milliseconds of the monotonic clock.
struct SampleClock: Sendable, Equatable {
  /// The least time between two samples.
  static let interval = 20

  private var last: Int
  private var waited = 0

  init(now: Int) { last = now }

  /// A sample that is due.
  struct Sample: Equatable {
    /// Whether the loop has waited for less than a quarter of the time since the last one.
    let isBusy: Bool
  }

  /// Takes in that the loop wakes.
  /// - Parameter waitBegan: When it began to wait.
  /// - Returns: nil when no sample is due.
  mutating func wakes(now: Int, waitBegan: Int) -> Sample? {
    waited += max(0, now - waitBegan)
    let time = now - last
    guard time >= Self.interval else { return nil }
    defer { (last, waited) = (now, 0) }
    return Sample(isBusy: 4 * waited < time)
  }
}
