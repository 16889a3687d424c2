import Model
import Scheduling

/// What is known about the tries of an entry: one value, which goes along whole while the entry waits, is in progress, is
/// deferred or changes to its next mirror. Times are milliseconds of the monotonic clock.
struct AttemptHistory {
  /// How often it was tried, at all of its URLs: what its row says.
  var attempts = 0

  /// How many of these count for `--retries`: those at the URL in use that its host did not refuse.
  var counted = 0

  /// How often its host refused the URL in use.
  var refusals = 0

  /// Whether the URL in use was tried before.
  var wasAsked = false

  /// Which of its URLs is in use, from 0.
  var mirror = 0

  /// The first of its URLs that was left only because its host was closed, from 0. Default: nil, none was.
  var passedOver: Int?

  /// Whether it is at that URL again, because the mirrors after it have failed: they are not tried again.
  var wentBack = false

  /// The hosts of the URLs after that one, in their order, empty for a file. Default: none, also when its request is not to
  /// be made at another one unless it failed.
  var mirrorHosts: [String] = []

  /// How the mirrors before that one failed, in their order.
  var mirrorFailures: [ReportRow.MirrorFailure] = []

  /// Whether one of them failed with a retryable error.
  var hadRetryableMirrorFailure = false

  /// When it was first tried. Default: nil, it was not.
  var firstTried: Int?

  /// When it was started for the first time since it was last deferred, by the clock that stands still during pauses. Set
  /// while `--entry-timeout` limits its time.
  var roundBegan: Int?

  /// Why the last try failed. Set while `--entry-timeout` limits its time: it may be its last.
  var failure: EntryFailure?

  /// What the last try left of its download, for the next one at the same URL.
  var partial: PartialDownload?

  /// Whether the last try found out that the bytes of its source are not there.
  var needsBytes = false

  /// How often its tries at the URL in use did not count because its host was closed.
  var holds = 0

  /// When its host failed last at a try at the URL in use. Default: nil, it did not in this process.
  var failedAt: Int?

  /// Whether it has failed at the URL in use while its host served others.
  var failsByItself = false
}

extension AttemptHistory {
  /// - Parameter attempts: How often it was tried, at its first URL.
  init(attempts: Int, firstTried: Int? = nil) {
    self.init(attempts: attempts, counted: attempts, wasAsked: attempts > 0, firstTried: firstTried)
  }

  /// Of an entry that was deferred: its retries begin anew.
  init(_ deferred: DeferredEntry) {
    self.init(attempts: deferred.attempts, wasAsked: deferred.attempts > 0, firstTried: deferred.firstTried)
  }

  /// Records a try at the URL in use.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, this try included.
  ///   - isRefused: Whether its host refused it.
  ///   - failedAt: When its host failed; nil when it did not.
  ///   - failsByItself: Whether that was while its host served others: then it comes last when a closed host is tried.
  mutating func tried(attempts: Int, isRefused: Bool, failedAt: Int?, failsByItself: Bool) {
    if let failedAt { self.failedAt = failedAt }
    self.failsByItself = self.failsByItself || failsByItself
    if isRefused { refusals += 1 } else { counted += attempts - self.attempts }
    self.attempts = attempts
    wasAsked = true
  }

  /// Changes to the next mirror.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, at all of its URLs.
  ///   - failure: How the mirror failed that was in use.
  ///   - isRetryable: Whether that may succeed later.
  mutating func useMirror(attempts: Int, after failure: ReportRow.MirrorFailure?, isRetryable: Bool) {
    self.attempts = attempts
    (counted, refusals, wasAsked, holds, failedAt, failsByItself, partial) = (0, 0, false, 0, nil, false, nil)
    mirror += 1
    mirrorHosts = Array(mirrorHosts.dropFirst())
    if let failure { mirrorFailures.append(failure) }
    hadRetryableMirrorFailure = hadRetryableMirrorFailure || isRetryable
  }

  /// Records that the URL in use is left only because its host is closed.
  mutating func passOver() { passedOver = passedOver ?? mirror }

  /// Goes back to the URL that was passed over.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, at all of its URLs.
  ///   - failure: How the mirror failed that was in use.
  mutating func goBack(attempts: Int, after failure: ReportRow.MirrorFailure?) {
    guard let passedOver else { return }
    useMirror(attempts: attempts, after: failure, isRetryable: false)
    if mirrorFailures.indices.contains(passedOver) { mirrorFailures.remove(at: passedOver) }
    (mirror, self.passedOver, wentBack, mirrorHosts) = (passedOver, nil, true, [])
  }

  /// Records a try that does not count, and neither does its time, because the host was closed.
  mutating func held(now: Int) {
    holds += 1
    failedAt = now
    wasAsked = true
    roundBegan = nil
  }
}
