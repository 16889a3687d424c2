/// The effect of rates on one request, and time limits that account for it, in place of libcurl's: those would include the
/// hold times, and take a pause that is followed by little data for slowness. Times are `Clock.monotonicSeconds`.
struct RateHold {
  private let limiter: RateLimiter<UnsafeMutableRawPointer>
  private let id: UnsafeMutableRawPointer
  private let host: String

  /// Whether the request may wait behind paused transfers of its host, with which it shares a connection: then all of their
  /// pauses hold it back.
  private let isShared: Bool

  /// The beginning of its pause; `nil` while it is not paused.
  private var since: Double?

  var isPaused: Bool { since != nil }

  /// The time of its earlier pauses, and that of its host's transfers when it began.
  private var before = 0.0
  private let hostBefore: Double
  private var limits: ActiveLimits

  init(
    _ limiter: RateLimiter<UnsafeMutableRawPointer>, id: UnsafeMutableRawPointer, host: String, isShared: Bool,
    limits: ActiveLimits
  ) {
    (self.limiter, self.id, self.host, self.isShared, self.limits) = (limiter, id, host, isShared, limits)
    hostBefore = limiter.pausedTime(of: host, now: limits.began)
  }

  /// Whether the rates allow a piece of the body now. If not, the transfer pauses.
  mutating func mayReceive(_ bytes: Int, now: Double) -> Bool {
    if limiter.receive(bytes, by: id, of: host, now: now) { return true }
    since = now
    return false
  }

  /// Whether the rate of all transfers together allows nothing now.
  func isHeldByTotal(now: Double) -> Bool { !limiter.isTotalOpen(now: now) }

  /// Records the end of a pause.
  mutating func pauseEnds(now: Double) {
    if let since { before += now - since }
    since = nil
  }

  /// The time for which the request was held back, in seconds.
  func time(now: Double) -> Double {
    isShared ? limiter.pausedTime(of: host, now: now) - hostBefore : before + (since.map { now - $0 } ?? 0)
  }

  /// Records the first byte of the body.
  mutating func bodyBegins(now: Double) { limits.bodyBegins(now: now, held: time(now: now)) }

  /// As `ActiveLimits.check`.
  mutating func check(now: Double, bytes: Int) -> (excess: ActiveLimits.Excess?, next: Double) {
    limits.check(now: now, held: time(now: now), bytes: bytes)
  }
}
