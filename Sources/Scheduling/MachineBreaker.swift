/// Whether hosts that have never answered may be asked. They are held while this machine seems to have no network, no proxy or
/// no name server: after two hosts in a row that could not be resolved, or one without a network or a proxy, and no other news
/// since. One entry at a time tries whether that has changed. After the hold is given up they are asked as usual, until one of
/// them is reached. Times are milliseconds of any clock.
struct MachineBreaker {
  private var breaker = HostBreaker()

  /// The cause of the last hold.
  private var cause: HostBreaker.Failure?

  /// The last host that could not be resolved, if there is no other news since.
  private var unresolved: Int?

  /// When the last request began that reached a host, and the last one that reached a host of unknown address: that needs a name
  /// server, and the proxy.
  private var reached = Int.min
  private var reachedNew = Int.min

  /// The host that is tried, and since when.
  private var trial: (host: Int, began: Int)?

  var isClosed: Bool { breaker.isClosed }

  /// When and why hosts are held. Default: nil, they are not.
  var closed: HostBreaker.Closed? { breaker.closed }

  /// How long hosts have been held.
  var unanswered: Int { breaker.closed?.unanswered ?? 0 }

  func isTrialDue(now: Int) -> Bool { breaker.trialDue.map { $0 <= now } ?? false }

  /// When a held host may be tried. Default: nil, one is tried, or none is held.
  var trialDue: Int? { breaker.trialDue }

  mutating func trialBegan(at host: Int, now: Int) {
    breaker.trialBegan(now: now)
    trial = (host, now)
  }

  /// Allows asking hosts that have never answered, although this machine still seems to have no network.
  mutating func giveUp(now: Int) { breaker.giveUp(now: now) }

  /// Whether requests that began at this time or later reached hosts in spite of a failure.
  func hasReached(_ failure: HostBreaker.Failure, since time: Int) -> Bool {
    (failure == .noNetwork ? reached : reachedNew) >= time
  }

  /// Records the end of a download.
  /// - Parameter isNew: Whether the request before did not reach the host, or there was none.
  /// - Returns: The change for hosts that have never answered. Default: nil, none.
  mutating func ended(at host: Int, _ contact: HostScheduler.Contact, isNew: Bool, began: Int, now: Int) -> HostChange
    .Kind?
  {
    let isTrial = isTrial(host, began: began)
    if isTrial { trial = nil }
    switch contact {
    case .failed(let failure) where failure.isOfMachine:
      defer { unresolved = host }
      if isTrial || breaker.isClosed {
        breaker.failed(failure, began: now, isTrial: isTrial, now: now)
      } else if breaker.isGivenUp {
        return nil
      } else if failure != .unresolved || unresolved.map({ $0 != host }) == true {
        breaker.answered(began: now - 1, now: now - 1)
        breaker.failed(failure, began: now, isTrial: false, now: now)
        cause = failure
        return .closed(failure)
      }
    case .answered, .failed:
      reached = max(reached, began)
      if isNew { (reachedNew, unresolved) = (max(reachedNew, began), nil) }
      if isTrial { breaker.trialEnded() }
      // A host that was reached before, or one asked before the hold, may not have needed a name server or, unless it is the
      // trial, a proxy.
      let isNews = isNew || cause == .noNetwork || isTrial && cause == .noProxy
      guard breaker.state != .open, isNews, began >= closed?.since ?? began else { return nil }
      breaker = HostBreaker()
      return .opened
    case .unknown: if isTrial { breaker.trialEnded() }
    }
    return nil
  }

  /// Whether a download is the trial.
  /// - Parameter began: When it started.
  func isTrial(_ host: Int, began: Int) -> Bool { trial.map { $0.host == host && $0.began <= began } ?? false }

  /// Counts time.
  /// - Parameter othersAnswer: Whether the latest news of the hosts that have answered before is an answer.
  /// - Returns: Whether the hold is given up because of it.
  mutating func pass(_ milliseconds: Int, othersAnswer: Bool, now: Int) -> Bool {
    breaker.pass(milliseconds, othersAnswer: othersAnswer, now: now)
  }
}
