import Model
import Scheduling
import Transfer

/// What is known about the tries of an entry: one value, which goes along whole while the entry waits, is in progress, is
/// deferred or changes to its next mirror. Times are milliseconds of the monotonic clock.
struct AttemptHistory {
  /// How often it was tried, at all of its URLs: what its row says.
  var attempts = 0

  /// Which of its URLs is in use, from 0.
  var mirror = 0

  /// What is known about the tries of that URL.
  var tries = URLTries()

  /// The URLs that were in use before, those that were left first before others.
  private(set) var earlier: [EarlierURL] = []

  /// The hosts of all of its URLs, empty for a file. Default: none, also when it has one URL only, or when its request is made
  /// at another one only after it has failed.
  private(set) var hosts: [String] = []

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

  /// The tries of one URL.
  struct URLTries {
    /// How many count for `--retries`: those that its host did not refuse.
    var counted = 0

    /// How often its host refused it.
    var refusals = 0

    /// Whether it was tried.
    var wasAsked = false

    /// How often its tries did not count because its host was closed.
    var holds = 0

    /// When its host failed last. Default: nil, it did not in this process.
    var failedAt: Int?

    /// Whether it has failed while its host served others.
    var failsByItself = false

    /// How often its host had been closed when it began to wait for its next try.
    var closings = 0
  }

  /// A URL that was in use.
  struct EarlierURL {
    let mirror: Int
    let tries: URLTries
    let failure: ReportRow.MirrorFailure?
    let isRetryable: Bool

    /// Whether it was left only because its host was closed: it is tried again unless another one succeeds.
    let isPassedOver: Bool
  }
}

extension AttemptHistory {
  /// - Parameter attempts: How often it was tried, at its first URL.
  init(attempts: Int, firstTried: Int? = nil) {
    self.init(attempts: attempts, tries: URLTries(counted: attempts, wasAsked: attempts > 0), firstTried: firstTried)
  }

  /// Of an entry that was deferred: its retries begin anew.
  init(_ deferred: DeferredEntry) {
    self.init(
      attempts: deferred.attempts, tries: URLTries(wasAsked: deferred.attempts > 0), firstTried: deferred.firstTried)
  }

  /// Of an entry whose source another of its variants has downloaded from a mirror: the URLs before it have failed.
  init(inheritedFrom mirror: Int) {
    self.mirror = mirror
    earlier = (0..<mirror).map {
      EarlierURL(mirror: $0, tries: URLTries(), failure: nil, isRetryable: false, isPassedOver: false)
    }
  }

  /// How the URLs before the one in use failed.
  var mirrorFailures: [ReportRow.MirrorFailure] { earlier.compactMap(\.failure) }

  /// Whether one of them failed with a retryable error.
  var hadRetryableMirrorFailure: Bool { earlier.contains(where: \.isRetryable) }

  /// Whether it may be passed on to another URL when the host of the one in use is closed.
  var hasMirror: Bool { nextURL(of: hosts.count) != nil }

  /// Sets `hosts`.
  mutating func setHosts(of entry: Entry) {
    // A request that may have an effect, such as a POST, counts as sent when it fails, and one that waits was not.
    guard hosts.isEmpty, entry.urls.count > 1, entry.request.isCacheable else { return }
    hosts = entry.urls.map { SourceLocation.hostName(of: $0) ?? "" }
  }

  /// The first URL after the one in use, and after the last the first again, that has not failed.
  /// - Parameters:
  ///   - count: How many URLs there are.
  ///   - isWanted: Called with the numbers of such URLs, from 0. Default: any is wanted.
  /// - Returns: nil when there is none.
  func nextURL(of count: Int, where isWanted: (Int) -> Bool = { _ in true }) -> Int? {
    guard count > 1 else { return nil }
    return (mirror + 1..<mirror + count).lazy.map { $0 % count }.first { url in
      earlier.allSatisfy { $0.mirror != url || $0.isPassedOver } && isWanted(url)
    }
  }

  /// Records a try at the URL in use.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, this try included.
  ///   - isRefused: Whether its host refused it.
  ///   - failedAt: When its host failed; nil when it did not.
  ///   - failsByItself: Whether that was while its host served others: then it comes last when a closed host is tried.
  mutating func tried(attempts: Int, isRefused: Bool, failedAt: Int?, failsByItself: Bool) {
    if let failedAt { tries.failedAt = failedAt }
    tries.failsByItself = tries.failsByItself || failsByItself
    if isRefused { tries.refusals += 1 } else { tries.counted += attempts - self.attempts }
    self.attempts = attempts
    tries.wasAsked = true
  }

  /// Changes to another URL. The time for all tries begins anew at one that was passed over: the entry waited for its host.
  /// - Parameters:
  ///   - attempts: How often the entry was tried, at all of its URLs.
  ///   - failure: How the URL failed that was in use.
  ///   - isRetryable: Whether that may succeed later.
  ///   - isPassedOver: Whether it is left only because its host is closed.
  mutating func use(
    _ url: Int, attempts: Int, after failure: ReportRow.MirrorFailure?, isRetryable: Bool, isPassedOver: Bool
  ) {
    self.attempts = attempts
    earlier.append(
      EarlierURL(mirror: mirror, tries: tries, failure: failure, isRetryable: isRetryable, isPassedOver: isPassedOver))
    let known = earlier.firstIndex { $0.mirror == url }.map { earlier.remove(at: $0) }
    (mirror, tries, partial) = (url, known?.tries ?? URLTries(), nil)
    if known != nil { roundBegan = nil }
  }

  /// Records a try that does not count, and neither does its time, because the host was closed.
  mutating func held(now: Int) {
    tries.holds += 1
    tries.failedAt = now
    tries.wasAsked = true
    roundBegan = nil
  }
}
