/// The time limits of a request that a rate may hold back: only the time in which it was not held back counts. Times are seconds
/// of a clock that does not jump; hold times are the sum since the request began.
struct ActiveLimits {
  /// Which limit is exceeded.
  enum Excess: Equatable {
    /// The whole transfer takes too long.
    case time
    /// It was too slow for too long.
    case speed
  }

  let began: Double

  /// The time limit of the request, without the time for which it was held back.
  let time: Double

  /// The time limit of the request including hold times.
  let wholeTime: Double

  /// The bytes per second that must arrive, on average in each period from the first byte on; 0: any number.
  let speed: Int

  /// In seconds.
  let period: Double

  /// The beginning of the current period: the time without hold times, and the bytes until then; `nil` before the
  /// first byte.
  private var mark: (active: Double, bytes: Int)?

  init(began: Double, time: Double, wholeTime: Double = .infinity, speed: Int, period: Double) {
    (self.began, self.time, self.wholeTime) = (began, time, wholeTime)
    (self.speed, self.period) = (speed, period)
  }

  /// Records the first byte of the body: the speed is limited from now on.
  mutating func bodyBegins(now: Double, held: Double) { mark = (now - began - held, 0) }

  /// Checks the limits.
  /// - Parameters:
  ///   - held: The hold time until now.
  ///   - bytes: The bytes of the body that have arrived.
  /// - Returns: The exceeded limit, or the time of the next check.
  mutating func check(now: Double, held: Double, bytes: Int) -> (excess: Excess?, next: Double) {
    let active = now - began - held
    if active >= time || now - began >= wholeTime { return (.time, now) }
    var next = min(now + time - active, began + wholeTime)
    guard speed > 0 else { return (nil, next) }
    var left = period
    if let mark {
      let passed = active - mark.active
      if passed < period {
        left -= passed
      } else if Double(bytes - mark.bytes) < Double(speed) * passed {
        return (.speed, now)
      } else {
        self.mark = (active, bytes)
      }
    }
    next = min(next, now + left)
    return (nil, next)
  }
}

/// The state of the wait for the first byte of a response's body. Times are `Clock.monotonicSeconds`.
enum FirstByteWait: Equatable {
  /// No part of the request was sent: other limits apply until then.
  case notSent
  /// The body must begin in time.
  case awaited(until: Double)
  /// It has begun: the speed is limited from now on.
  case came
  /// It did not begin in time.
  case expired

  /// The time of the next check.
  /// - Parameter limit: How long the wait may be, in seconds.
  func nextCheck(now: Double, limit: Double) -> Double {
    switch self {
    case .notSent: now + limit
    case .awaited(let until): until
    case .came, .expired: .infinity
    }
  }
}
