import Model
import Scheduling
import Transfer

/// The tries of an entry. The value is passed on as a whole when the entry waits, is in progress, is deferred or
/// changes to its next mirror. Times are milliseconds of the monotonic clock.
struct AttemptHistory {
  /// The number of tries at all URLs, as shown in the row.
  var attempts = 0

  /// The index of the URL in use, from 0.
  var mirror = 0

  /// The tries of the URL in use.
  var tries = URLTries()

  /// The URLs that were in use before, in the order in which they were left.
  private(set) var earlier: [EarlierURL] = []

  /// The hosts of all URLs; empty strings for files. Empty for an entry with one URL, and when the request may be sent
  /// to another host only after it has failed.
  private(set) var hosts: [String] = []

  /// When the entry was first tried. Default: nil, it was not.
  var firstTried: Int?

  /// When the entry first started since it was last deferred, by the clock that stops during pauses. Set while
  /// `--entry-timeout` limits its time.
  var roundBegan: Int?

  /// Why the last try failed. Set while `--entry-timeout` limits its time, since that try may be the last.
  var failure: EntryFailure?

  /// The partial download of the last try, for the next one at the same URL.
  var partial: PartialDownload?

  /// Whether the last try found that the bytes of its source are missing.
  var needsBytes = false

  /// The tries of one URL.
  struct URLTries {
    /// The number of tries that count for `--retries`, which excludes refusals.
    var counted = 0

    /// The number of tries that its host refused.
    var refusals = 0

    /// Whether it was tried.
    var wasAsked = false

    /// The number of tries that did not count because its host was closed.
    var holds = 0

    /// When its host last failed. Default: nil, it has not failed in this process.
    var failedAt: Int?

    /// Whether it failed while its host served others.
    var failsByItself = false

    /// The number of closings of its host when the entry began to wait for its next try.
    var closings = 0
  }

  /// A URL that was in use.
  struct EarlierURL {
    let mirror: Int
    let tries: URLTries
    let failure: ReportRow.MirrorFailure?
    let isRetryable: Bool

    /// Whether it was left only because its host was closed. It is tried again unless another URL succeeds.
    let isPassedOver: Bool
  }
}

extension AttemptHistory {
  /// - Parameter attempts: The number of tries at the first URL.
  init(attempts: Int, firstTried: Int? = nil) {
    self.init(attempts: attempts, tries: URLTries(counted: attempts, wasAsked: attempts > 0), firstTried: firstTried)
  }

  /// The history of an entry that was deferred. Its retries begin anew.
  init(_ deferred: DeferredEntry) {
    self.init(
      attempts: deferred.attempts, tries: URLTries(wasAsked: deferred.attempts > 0), firstTried: deferred.firstTried)
  }

  /// The history of an entry whose source another variant has downloaded from a mirror.
  init(inheritedFrom mirror: Int) {
    self.mirror = mirror
    earlier = (0..<mirror).map {
      EarlierURL(mirror: $0, tries: URLTries(), failure: nil, isRetryable: false, isPassedOver: false)
    }
  }

  /// The failures of the URLs before the one in use.
  var mirrorFailures: [ReportRow.MirrorFailure] { earlier.compactMap(\.failure) }

  /// Whether an earlier mirror failed with a retryable error.
  var hadRetryableMirrorFailure: Bool { earlier.contains(where: \.isRetryable) }

  /// Whether the entry can move to another URL when the host of the one in use is closed.
  var hasMirror: Bool { nextURL(of: hosts.count) != nil }

  /// Sets the hosts of an entry.
  mutating func setHosts(of entry: Entry) {
    // A request with side effects, such as a POST, must not be sent to a mirror unless it has failed.
    guard hosts.isEmpty, entry.urls.count > 1, entry.request.isCacheable else { return }
    hosts = entry.urls.map { SourceLocation.origin(of: $0) ?? "" }
  }

  /// The next URL after the one in use that has not failed, in cyclic order.
  /// - Parameters:
  ///   - count: The number of URLs.
  ///   - isWanted: Called with the indices of such URLs. Default: accepts all.
  /// - Returns: nil when there is none.
  func nextURL(of count: Int, where isWanted: (Int) -> Bool = { _ in true }) -> Int? {
    guard count > 1 else { return nil }
    return (mirror + 1..<mirror + count).lazy.map { $0 % count }.first { url in
      earlier.allSatisfy { $0.mirror != url || $0.isPassedOver } && isWanted(url)
    }
  }

  /// Records a try at the URL in use.
  /// - Parameters:
  ///   - attempts: The number of tries of the entry, including this one.
  ///   - isRefused: Whether its host refused it.
  ///   - failedAt: When its host failed; nil when it did not.
  ///   - failsByItself: Whether it failed while its host served others. It is then tried last when the host is closed.
  mutating func tried(attempts: Int, isRefused: Bool, failedAt: Int?, failsByItself: Bool) {
    if let failedAt { tries.failedAt = failedAt }
    tries.failsByItself = tries.failsByItself || failsByItself
    if isRefused { tries.refusals += 1 } else { tries.counted += attempts - self.attempts }
    self.attempts = attempts
    tries.wasAsked = true
  }

  /// Changes to another URL. When that was passed over before, the time limit for all tries begins anew, since the
  /// entry has waited for its host.
  /// - Parameters:
  ///   - attempts: The number of tries of the entry at all URLs.
  ///   - failure: The failure of the URL that was in use.
  ///   - isRetryable: Whether that failure is retryable.
  ///   - isPassedOver: Whether the URL is left only because its host is closed.
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

  /// Records a try that does not count because the host was closed. Its time does not count either.
  mutating func held(now: Int) {
    tries.holds += 1
    tries.failedAt = now
    tries.wasAsked = true
    roundBegan = nil
  }
}
