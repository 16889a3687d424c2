import Model
import Scheduling

/// The decision on an entry whose operations have both ended.
enum Verdict: Equatable {
  /// Deliver its row.
  case deliver
  /// Try it again after this number of seconds.
  case retry(after: Double)
  /// Defer it for this number of milliseconds.
  case postpone(milliseconds: Int)
  /// Try it immediately at another of its URLs.
  case useMirror
  /// Wait until its host answers again, or is given up. The last try does not count.
  case hold
  /// Try it again when there is space.
  case waitForSpace
  /// Try it again later, because the machine failed.
  case waitForMachine
  /// Start it again. The last try does not count.
  case restart
  /// Leave it for the next start.
  case leave
}

/// The input of `Verdict`: an entry whose operations have both ended.
struct EndedEntry: Equatable {
  /// The state of its host after the failure.
  enum HostState {
    case open
    case closed
    case givenUp
    /// The host serves others, and the entry fails by itself, whatever the state of the host's breaker.
    case answering
  }

  var state: PhotoRecord.State
  var failure: EntryFailure?

  /// The number of its tries that count.
  var attempts: Int

  /// Whether it has another URL that has not failed.
  var hasMirror: Bool

  /// The throttle of its host.
  var throttle: Throttle

  /// The number of tries at the URL in use that its host refused, including the last.
  var refusals = 0

  /// The time since its first try, in milliseconds.
  var age = 0

  /// Whether it was deferred before, and therefore has no retries.
  var wasDeferred = false

  /// Whether an earlier mirror failed with a retryable error.
  var hadRetryableMirrorFailure = false

  /// Whether it was redirected to a possible captive portal.
  var mayBePortal = false

  /// Whether its request may be repeated. False when it may have side effects and has been sent, unless retries were
  /// set by the operator.
  var mayRepeat = true

  /// The remaining time for all its tries, in seconds; nil without a limit.
  var timeLeft: Double?

  /// The state of its host, if the host failed.
  var host = HostState.open

  /// Whether another URL's host is open.
  var isMirrorOpen = true
}

extension Verdict {
  /// - Parameter now: Milliseconds of the clock of the throttle.
  init(on entry: EndedEntry, backoff: Backoff, deferral: Deferral = Deferral(), isStopping: Bool, now: Int) {
    guard entry.state == .failed, entry.host == .closed else {
      self = Self.usual(entry, backoff, deferral, isStopping: isStopping, now: now)
      return
    }
    self = isStopping ? .leave : entry.hasMirror && entry.isMirrorOpen ? .useMirror : .hold
  }

  /// The decision on an entry whose host is open, or was given up.
  private static func usual(
    _ entry: EndedEntry, _ backoff: Backoff, _ deferral: Deferral, isStopping: Bool, now: Int
  ) -> Verdict {
    // Its download did not begin.
    guard entry.state != .new else { return isStopping ? .leave : .restart }
    let verdict: Verdict
    switch entry.failure?.disposition {
    case .waitForSpace: verdict = .waitForSpace
    case .waitForMachine: verdict = .waitForMachine
    case .restart: verdict = .restart
    case .retry(let asked):
      let isLast = entry.wasDeferred || entry.host == .givenUp || !entry.mayRepeat
      let delay = isLast ? nil : backoff.delay(attempts: entry.attempts, asked: asked)
      let wait = delay.flatMap { deferral.allowed(waitSeconds: $0, ageMilliseconds: entry.age) }
      verdict = afterFailure(entry, delay: wait, isStopping)
    case .hostRefused(let asked):
      // A refusal concerns the host. The entry is given up only when the host has refused too often in a row, or refuses
      // this entry while it serves others.
      let isGivenUp =
        entry.throttle.refusals > backoff.retries
        || backoff.isRefusedItself(own: entry.refusals, inRow: entry.throttle.refusals, hasAsked: asked != nil)
      let hold = Double(max(0, entry.throttle.until - now)) / 1000
      let wait = deferral.allowed(waitSeconds: hold, ageMilliseconds: entry.age)
      verdict = afterFailure(entry, delay: isGivenUp || !entry.mayRepeat ? nil : wait, isStopping)
    case .final:
      let isTriedAgain = entry.mayBePortal && entry.mayRepeat && !entry.wasDeferred && entry.host != .givenUp
      let delay = backoff.delay(attempts: entry.attempts, asked: Double(CaptivePortals.suspicionTime) / 1000)
      verdict = afterFailure(entry, delay: isTriedAgain ? delay : nil, isStopping)
    case nil: verdict = isStopping && entry.state != .filtered ? .leave : .deliver
    }
    guard verdict == .deliver else { return verdict }
    guard let wait = entry.wait(deferral) else { return .deliver }
    return .postpone(milliseconds: wait)
  }

  /// - Parameter delay: The wait before the next try; nil when its URL is not tried again.
  private static func afterFailure(_ entry: EndedEntry, delay: Double?, _ isStopping: Bool) -> Verdict {
    let timeLeft = entry.timeLeft ?? .infinity
    let delay = delay.flatMap { $0 < timeLeft ? $0 : nil }
    let mayUseMirror = entry.hasMirror && entry.failure?.code.stage == .download && timeLeft > 0
    guard delay != nil || mayUseMirror else { return .deliver }
    if isStopping { return .leave }
    return delay.map { .retry(after: $0) } ?? .useMirror
  }
}

extension EndedEntry {
  /// How long the entry is deferred, in milliseconds; nil when none of its URLs had a retryable failure, or it is too old.
  fileprivate func wait(_ deferral: Deferral) -> Int? {
    guard mayRepeat, let failure, failure.code.stage == .download, failure.isRetryable || hadRetryableMirrorFailure
    else { return nil }
    switch failure.disposition {
    case .retry(let asked), .hostRefused(let asked): return deferral.wait(age: age, asked: asked)
    case .final, .waitForSpace, .waitForMachine, .restart: return deferral.wait(age: age, asked: nil)
    }
  }
}
