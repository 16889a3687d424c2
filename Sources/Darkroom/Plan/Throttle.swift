/// What a host is allowed after it asked to be left alone: with 429, or with 503 and `Retry-After`.
///
/// It is left alone for a while, then asked by one probe. Every answer then lets one more be asked at once, and the next a
/// little sooner; when the host asks again, half as often: additive increase of the number, multiplicative increase and
/// decrease of the time between two requests. Times are milliseconds of any clock.
struct Throttle: Equatable {
  /// Until when nothing is asked of it.
  private(set) var until = 0

  /// How often in a row it asked to be left alone, without having served anything in between.
  private(set) var refusals = 0

  /// Downloads at once.
  private(set) var room = Int.max

  /// The least time between the beginnings of two downloads.
  private(set) var interval = 0.0

  /// When the last wait began.
  private var since = 0
  private var lastBegun = 0

  /// The shortest interval of a host that has asked to be left alone; below a fifth of it there is none.
  static let shortest = 100.0
  static let longest = 60_000.0
  static let decay = 0.95

  /// The same for entries that have not met a refusal of the host yet.
  var ofEarlierJob: Throttle {
    var throttle = self
    throttle.refusals = 0
    return throttle
  }

  /// Whether the host is like any other.
  var isFree: Bool { room == .max }

  /// From when on the next download may be begun.
  var opens: Int { max(until, interval > 0 ? lastBegun + Int(interval) : 0) }

  /// A download is begun.
  mutating func begin(now: Int) { lastBegun = now }

  /// The host has answered as hosts do.
  mutating func served() {
    refusals = 0
    guard !isFree else { return }
    room += 1
    interval *= Self.decay
    if interval < Self.shortest / 5 { (room, interval) = (.max, 0) }
  }

  /// The host has asked to be left alone.
  /// - Parameters:
  ///   - asked: For how long, in seconds; nil when it did not say.
  ///   - begun: When the entry was admitted to the queue.
  /// - Returns: How long it will be left alone, in seconds; nil when it already is.
  mutating func refused(asked: Double?, begun: Int, now: Int, backoff: Backoff) -> Double? {
    let isNew = isFree || begun > since
    if isNew {
      refusals += 1
      (room, since) = (1, now)
      interval = min(Self.longest, max(Self.shortest, 2 * interval))
    } else if asked == nil {
      return nil
    }
    let seconds = backoff.hold(asked: asked, refusals: refusals)
    until = max(until, now + Int((seconds * 1000).rounded(.up)))
    return isNew ? seconds : nil
  }
}
