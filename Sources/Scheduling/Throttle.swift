/// The limits of a host after it has refused a request: with 429, or with 503 and `Retry-After`.
///
/// It is held for a while, then asked by one probe. Every answer then allows one more download at once, and the next a
/// little sooner; a further refusal halves the rate: additive increase of the number, multiplicative increase and decrease
/// of the time between two requests. Times are milliseconds of any clock.
package struct Throttle: Equatable, Sendable {
  /// When the hold ends: no request is sent before.
  package private(set) var until = 0

  /// How often it refused in a row, without serving a request in between.
  package private(set) var refusals = 0

  /// Downloads at once.
  package private(set) var room = Int.max

  /// The least time between the starts of two downloads.
  package private(set) var interval = 0.0

  /// The least time between two requests that a rule demands, whether or not the host refuses any; 0 for none.
  package var spacing = 0

  /// Whether a hold has begun, and no request that was sent after its end has been answered.
  private var isHeld = false

  /// When the last hold began.
  private var since = 0
  private var lastStarted = 0

  /// When the last request began, if that was reported.
  private var lastRequest: Int?

  /// The shortest interval of a host that has refused a request; below a fifth of it there is none.
  package static let shortest = 100.0
  package static let longest = 60_000.0
  package static let decay = 0.95

  package init() {}

  /// The same throttle for entries that have not been refused by the host yet.
  package var ofEarlierJob: Throttle {
    var throttle = self
    throttle.refusals = 0
    return throttle
  }

  /// Whether the host has no limits of its own.
  package var isFree: Bool { room == .max }

  package var nextStart: Int { max(until, interval > 0 ? lastStarted + Int(interval) : 0, nextRequest) }

  /// When a rule allows the next request; 0 when it allows one at any time.
  package var nextRequest: Int { spacing > 0 ? lastRequest.map { $0 + spacing } ?? 0 : 0 }

  package mutating func started(now: Int) { lastStarted = now }

  package mutating func requested(now: Int) { lastRequest = now }

  /// Records an answer that is not a refusal.
  /// - Parameter began: When the entry that was answered started.
  /// - Returns: Whether the host answers again after a hold.
  @discardableResult package mutating func served(began: Int) -> Bool {
    refusals = 0
    // Answers to requests that were sent before the hold may arrive during it.
    let isOver = isHeld && began >= until
    if isOver { isHeld = false }
    guard !isFree else { return isOver }
    room += 1
    interval *= Self.decay
    if interval < Self.shortest / 5 { (room, interval) = (.max, 0) }
    return isOver
  }

  /// Records a refusal.
  /// - Parameters:
  ///   - asked: The hold that the host asked for, in seconds; nil when it did not say.
  ///   - began: When the refused entry started.
  /// - Returns: How long the host is held, in seconds; nil when it already is.
  package mutating func refused(asked: Double?, began: Int, now: Int, backoff: Backoff) -> Double? {
    let isNew = isFree || began > since
    if isNew {
      refusals += 1
      (room, since) = (1, now)
      interval = min(Self.longest, max(Self.shortest, 2 * interval))
    } else if asked == nil {
      return nil
    }
    let seconds = backoff.hold(asked: asked, refusals: refusals)
    until = max(until, now + Int((seconds * 1000).rounded(.up)))
    if isNew { isHeld = true }
    return isNew ? seconds : nil
  }
}
