/// Whether hosts may be asked that have never answered. They are held while this machine seems to have no network or no name
/// server: after two hosts in a row that could not be resolved, or one without a network, and no other news since. One entry
/// at a time tries whether it has. Times are milliseconds of any clock.
struct MachineBreaker {
  private var breaker = HostBreaker()

  /// The host that could not be resolved last, with no other news since.
  private var unresolved: Int?

  /// The host that is tried.
  private var trial: Int?

  var isClosed: Bool { breaker.isClosed }

  /// For how long hosts have been held.
  var unanswered: Int { breaker.closed?.unanswered ?? 0 }

  func isTrialDue(now: Int) -> Bool { breaker.trialDue.map { $0 <= now } ?? false }

  /// When a held host may be tried. Default: nil, one is tried, or none is held.
  var trialDue: Int? { breaker.trialDue }

  mutating func trialBegan(at host: Int, now: Int) {
    breaker.trialBegan(now: now)
    trial = host
  }

  /// Records the end of a download.
  /// - Returns: What changes for hosts that have never answered. Default: nil, nothing.
  mutating func ended(at host: Int, _ contact: HostScheduler.Contact, now: Int) -> HostChange.Kind? {
    let isTrial = trial == host
    if isTrial { trial = nil }
    switch contact {
    case .failed(let failure) where failure.isOfMachine:
      defer { unresolved = host }
      if isTrial || breaker.isClosed {
        breaker.failed(failure, began: now, isTrial: isTrial, now: now)
      } else if failure == .noNetwork || unresolved.map({ $0 != host }) == true {
        breaker.answered(now: now - 1)
        breaker.failed(failure, began: now, isTrial: false, now: now)
        return .closed(failure)
      }
    case .answered, .failed:
      unresolved = nil
      guard breaker.isClosed else { return nil }
      breaker = HostBreaker()
      return .opened
    case .unknown: if isTrial { breaker.trialEnded() }
    }
    return nil
  }

  mutating func pass(_ milliseconds: Int, now: Int) { breaker.pass(milliseconds, othersAnswer: false, now: now) }
}
