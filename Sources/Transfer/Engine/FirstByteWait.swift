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
