import System

/// The time that a transfer takes, and its limits. Points in time are `Clock.monotonicSeconds`.
struct TransferTime {
  /// The time limit of the whole transfer, without hold times.
  private let limit: Duration

  /// The same including hold times; `nil` without such a limit.
  private let wholeLimit: Duration?

  /// The time limit for resolving and connecting, which the rest of `limit` may shorten.
  private let connectLimit: Duration

  /// The time limit for the first byte of a body after its request was sent.
  private let firstByteLimit: Duration

  private let lowSpeed: Int
  private let lowSpeedPeriod: Duration

  /// The time of all requests so far, without the time between them; in seconds.
  private(set) var seconds = 0.0

  /// The hold times of earlier requests, in seconds.
  private var held = 0.0

  /// Whether the speed of the current request, and the time until its body begins, reflect the server: it has the connection for
  /// itself, or shares it with none that are paused.
  var isMeasured = true

  /// The wait of the current request for the first byte of its body.
  private var firstByte = FirstByteWait.notSent

  /// The rate and time limits of the current request. `nil`: no rate limits it, and libcurl enforces the time limits.
  private(set) var hold: RateHold?

  /// Which of these limits is exceeded.
  private var excess: ActiveLimits.Excess?

  /// - Parameter settings: Those of the first request, which hold for the whole transfer.
  init(_ settings: HostSettings, _ configuration: TransferConfiguration) {
    limit = settings.timeout ?? configuration.timeout
    wholeLimit = settings.timeLeft
    connectLimit = settings.connectTimeout ?? configuration.connectTimeout
    firstByteLimit =
      settings.firstByteTimeout ?? configuration.firstByteTimeout
      ?? TransferConfiguration.usualFirstByteTimeout
    (lowSpeed, lowSpeedPeriod) = (configuration.lowSpeed, configuration.lowSpeedPeriod)
  }

  /// The time limit of the current request, without hold times, which count only for `wholeLimit`.
  var left: Duration {
    let left = limit - .seconds(seconds - held)
    return wholeLimit.map { min($0 - .seconds(seconds), left) } ?? left
  }

  /// The time limit for resolving and connecting; at most the rest of that for the whole.
  var connectTimeout: Duration { min(connectLimit, left) }

  /// The speed that libcurl enforces once the body has begun, in bytes per second; 0: none.
  var enforcedSpeed: Int { isMeasured && hold == nil ? lowSpeed : 0 }

  // MARK: The current request

  mutating func requestBegins() { (firstByte, isMeasured) = (.notSent, true) }

  /// Records the wait for a name, in seconds.
  mutating func waited(_ time: Double) { seconds += time }

  /// Holds the current request back as the rates demand.
  /// - Parameters:
  ///   - id: Identifies it.
  ///   - isShared: Whether it can wait behind others of its host.
  mutating func hold(
    by limiter: RateLimiter<UnsafeMutableRawPointer>, id: UnsafeMutableRawPointer, host: String,
    isShared: Bool, now: Double
  ) {
    let limits = ActiveLimits(
      began: now, time: limit / .seconds(1) - (seconds - held),
      wholeTime: wholeLimit.map { $0 / .seconds(1) - seconds } ?? .infinity,
      speed: isMeasured ? lowSpeed : 0, period: lowSpeedPeriod / .seconds(1))
    hold = RateHold(limiter, id: id, host: host, isShared: isShared, limits: limits)
  }

  /// Whether the rates allow a piece of a body now. If not, the request pauses.
  mutating func mayReceive(_ bytes: Int, now: Double) -> Bool {
    hold?.mayReceive(bytes, now: now) ?? true
  }

  /// Records the end of a pause.
  mutating func pauseEnds(now: Double) { hold?.pauseEnds(now: now) }

  /// Ends the effect of rates.
  mutating func endHold() { hold = nil }

  /// Records that a part of the request was sent: the wait for the answer begins.
  mutating func hasSent(now: Double) {
    guard isMeasured, firstByte != .came else { return }
    firstByte = .awaited(until: now + firstByteLimit / .seconds(1))
  }

  /// Whether the body has begun.
  var hasFirstByte: Bool { firstByte == .came }

  /// Records the first byte of the body.
  mutating func bodyBegins(now: Double) {
    firstByte = .came
    hold?.bodyBegins(now: now)
  }

  /// Checks the time limits that libcurl does not know.
  /// - Parameter bytes: The bytes of the body that have arrived.
  /// - Returns: The time of the next check; `nil` when a limit is exceeded.
  mutating func check(now: Double, bytes: Int) -> Double? {
    var next = firstByte.nextCheck(now: now, limit: firstByteLimit / .seconds(1))
    if next <= now {
      firstByte = .expired
      return nil
    }
    if let check = hold?.check(now: now, bytes: bytes) {
      excess = check.excess
      if excess != nil { return nil }
      next = min(next, check.next)
    }
    return next
  }

  /// Records the end of a request.
  /// - Parameter time: Its time, in seconds.
  mutating func requestEnds(after time: Double, now: Double) {
    seconds += time
    held += hold?.time(now: now) ?? 0
  }

  // MARK: Exceeded limits

  /// The error of a limit that `check` has found exceeded; `nil` when none was.
  func failure(of source: String) -> TransferError? {
    if firstByte == .expired {
      return TransferError(
        .timeout,
        "first-byte-timeout is \(firstByteLimit / .seconds(1)) s; \(source) sent no byte of its content within that time"
      )
    }
    switch excess {
    case .time:
      let limit = min(limit, wholeLimit ?? limit) / .seconds(1)
      return TransferError(
        .timeout, "\(source) was not complete within \(limit) s, and more was not allowed")
    case .speed:
      return TransferError(
        .timeout,
        "low-speed is \(lowSpeed) bytes/s; \(source) sent less over \(lowSpeedPeriod / .seconds(1)) s"
      )
    case nil: return nil
    }
  }

  /// The error of a transfer that has waited too long for its name.
  func unresolved(_ name: String, of source: String) -> TransferError {
    TransferError(
      .timeout,
      "\(source): \(name) was not resolved within connect-timeout, \(connectLimit / .seconds(1)) s")
  }
}
