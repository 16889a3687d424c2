/// The time limits of a request that a rate may hold back: only the time counts in which it was not held back. Times are
/// seconds of a clock that does not jump; that of being held back is the sum since the request began.
struct ActiveLimits {
  /// Which limit is exceeded.
  enum Excess: Equatable {
    /// The whole transfer takes too long.
    case time
    /// It was too slow for too long.
    case speed
  }

  let began: Double

  /// How long the request may take, without the time for which it was held back.
  let time: Double

  /// How long the request may take with it.
  let wholeTime: Double

  /// Bytes per second that must arrive, on the average of each period from the first byte on; 0: any number.
  let speed: Int

  /// In seconds.
  let period: Double

  /// Where the present period began: the time, without that of being held back, and the bytes until then; `nil` before the
  /// first byte.
  private var mark: (active: Double, bytes: Int)?

  init(began: Double, time: Double, wholeTime: Double = .infinity, speed: Int, period: Double) {
    (self.began, self.time, self.wholeTime) = (began, time, wholeTime)
    (self.speed, self.period) = (speed, period)
  }

  /// The first byte of the body has come: the speed is limited from now on.
  mutating func bodyBegins(now: Double, held: Double) { mark = (now - began - held, 0) }

  /// Checks the limits.
  /// - Parameters:
  ///   - held: For how long it was held back, until now.
  ///   - bytes: How many bytes of the body have arrived.
  /// - Returns: What is exceeded, or when it is to be checked again.
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

/// How far a request is on the way to the first byte of the body of its answer. Times are `Clock.monotonicSeconds`.
enum FirstByteWait: Equatable {
  /// No part of the request was sent: other limits hold until then.
  case notSent
  /// The body has to begin in time.
  case awaited(until: Double)
  /// It has begun: the speed is limited from now on.
  case came
  /// It did not begin in time.
  case expired

  /// When it is to be looked at again.
  /// - Parameter limit: How long the wait may be, in seconds.
  func nextCheck(now: Double, limit: Double) -> Double {
    switch self {
    case .notSent: now + limit
    case .awaited(let until): until
    case .came, .expired: .infinity
    }
  }
}
