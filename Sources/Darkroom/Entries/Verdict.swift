import Model
import Scheduling

/// What becomes of an entry both of whose operations have ended.
enum Verdict: Equatable {
  /// Its row is delivered.
  case deliver
  /// It is tried again after so many seconds.
  case retry(after: Double)
  /// It is tried again after so many milliseconds, and holds nothing until then.
  case postpone(milliseconds: Int)
  /// It is tried at once at another of its URLs.
  case useMirror
  /// It waits until its host answers again, or is given up; the last try does not count.
  case hold
  /// It is tried again when there is space.
  case waitForSpace
  /// It is tried again after a while: the machine failed.
  case waitForMachine
  /// It is started again; the last try does not count.
  case restart
  /// It is left for the next start.
  case leave
}

/// An entry both of whose operations have ended, as far as it matters for what becomes of it.
struct EndedEntry: Equatable {
  /// Whether its host is asked after its failure.
  enum HostState {
    case open
    case closed
    case givenUp
    /// Whatever is known of it: it serves others, and the entry fails by itself.
    case answering
  }

  var state: PhotoRecord.State
  var failure: EntryFailure?

  /// How often it was tried, as far as that counts.
  var attempts: Int

  /// Whether it has another URL that has not failed.
  var hasMirror: Bool

  /// What its host allows.
  var throttle: Throttle

  /// How often its host refused the URL in use, the last try included.
  var refusals = 0

  /// How long ago it was first tried, in milliseconds.
  var age = 0

  /// Whether it was deferred before: then it has no retries.
  var wasDeferred = false

  /// Whether an earlier mirror failed with a retryable error.
  var hadRetryableMirrorFailure = false

  /// Whether it was redirected to a place of which it is not known yet whether it is a captive portal.
  var mayBePortal = false

  /// Whether its request may be made again: not one that may have an effect, has been sent, and is not to be repeated.
  var mayRepeat = true

  /// How much of the time for all its tries is left, in seconds; nil when that has no limit.
  var timeLeft: Double?

  /// Whether its host is asked, if the failure was the host's.
  var host = HostState.open

  /// Whether the host of one of these is not closed.
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

  /// What becomes of an entry whose host is open, or was given up.
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
      // That is the host's affair: the entry is given up only when the host has refused too often in a row, or refuses it
      // while it serves others.
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

  /// - Parameter delay: How long to wait before the next try; nil when its URL is not tried again.
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
  /// How long the entry is deferred, in milliseconds; nil when it is not, because no failure of its URLs may pass or it is
  /// too old.
  fileprivate func wait(_ deferral: Deferral) -> Int? {
    guard mayRepeat, let failure, failure.code.stage == .download, failure.isRetryable || hadRetryableMirrorFailure
    else { return nil }
    switch failure.disposition {
    case .retry(let asked), .hostRefused(let asked): return deferral.wait(age: age, asked: asked)
    case .final, .waitForSpace, .waitForMachine, .restart: return deferral.wait(age: age, asked: nil)
    }
  }
}
