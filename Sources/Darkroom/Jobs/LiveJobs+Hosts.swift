import Scheduling
import System
import Transfer

/// What closed hosts, silent ones and the time for an entry mean for entries.
extension LiveJobs {
  /// Tells which hosts were closed, have opened or were given up.
  func reportHosts() {
    for change in scheduler.hosts.takeHostChanges() {
      let host = scheduler.shownName(of: change.host)
      if let ended = change.ended { record(ended, of: change.host) }
      switch change.kind {
      case .closed(let failure):
        for run in runs.values where hasEntries(run, at: change.host) {
          run.closedHosts[change.host] = scheduler.hosts.closed(change.host)
        }
        let why = scheduler.failure(ofHost: change.host)?.message ?? "\(failure.words)"
        observe(.hostClosed(host: host, why: why))
      case .opened: observe(.hostOpened(host: host))
      case .givenUp: observe(.hostGivenUp(host: host, why: scheduler.failure(ofHost: change.host)?.message ?? ""))
      }
    }
  }

  private func hasEntries(_ run: JobRun, at host: Int) -> Bool {
    host == HostScheduler.files ? run.mayWaitForHosts : scheduler.hosts.has(job: run.number, at: host)
  }

  /// Records for the report of each run with entries at a host that it was closed until now.
  private func record(_ closed: HostBreaker.Closed, of host: Int) {
    for run in runs.values {
      let wasHeld = run.closedHosts.removeValue(forKey: host) != nil
      if wasHeld || hasEntries(run, at: host) { record(closed, of: host, in: run) }
    }
  }

  private func record(_ closed: HostBreaker.Closed, of host: Int, in run: JobRun) {
    guard run.holds.count < HostHold.limit else { return }
    let now = Clock.wallMilliseconds
    let began = now - (Clock.monotonicMilliseconds - closed.since)
    run.holds.append(
      HostHold(
        cause: closed.failure.text, host: scheduler.shownName(of: host),
        began: max(began, run.accepted?.manifest.accepted ?? began), ended: now))
  }

  /// When the hosts of a run that has ended did not answer, those included that do not yet.
  func holds(of run: JobRun) -> [HostHold] {
    for (host, closed) in run.closedHosts.sorted(by: { $0.value.since < $1.value.since }) {
      record(scheduler.hosts.closed(host) ?? closed, of: host, in: run)
    }
    run.closedHosts = [:]
    return run.holds
  }

  /// Whether nothing is left to do but to wait for closed hosts, while no host has answered for so many seconds.
  func isCutOff(for seconds: Double) -> Bool {
    scheduler.hosts.unansweredTime >= Int(seconds * 1000) && undelivered == 0 && scheduler.hosts.isCutOff
      && runs.values.allSatisfy { $0.mayWaitForHosts }
  }

  /// Gives up the closed hosts for which no other has answered for so many seconds.
  func giveUpHosts(after seconds: Double) {
    scheduler.hosts.giveUpUnanswered(after: Int(seconds * 1000), now: Clock.monotonicMilliseconds)
  }

  /// Whether the host of an entry is asked after the entry's failure.
  func hostState(_ record: PhotoRecord, _ live: PhotoRecord.Live, wasTried: Bool) -> EndedEntry.HostState {
    guard let failure = live.failureOfHost else { return .open }
    let breaker = scheduler.breaker(ofHostOf: record.id)
    if breaker.isGivenUp { return .givenUp }
    if !wasTried { return .closed }
    let isHeld = breaker.isClosed || failure.isOfMachine && !breaker.hasAnswered && scheduler.hosts.isMachineHeld
    // What may have had an effect is not repeated for that.
    guard isHeld, record.entry.request.isCacheable || !wasSent(record, live) else { return .open }
    // It failed before, and the host has served others since, or, if it is this machine that may be to blame, others were
    // reached: the failure is its own, and so are those that follow.
    guard let history = scheduler.started(record.id)?.history, let failedAt = history.failedAt else { return .closed }
    let servesOthers =
      history.failsByItself || breaker.hasServed(since: failedAt + 1)
      || failure.isOfMachine && !breaker.hasAnswered && scheduler.hosts.hasReached(failure, since: failedAt + 1)
    return servesOthers ? .answering : .closed
  }

  /// Whether the request of an entry may have been sent by its last try, or by that of another entry for both.
  func wasSent(_ record: PhotoRecord, _ live: PhotoRecord.Live) -> Bool {
    if live.usage.isOwn { return live.usage.requests.sent > 0 }
    guard live.attempts > scheduler.started(record.id)?.history.attempts ?? 0 else { return false }
    return live.failure?.hostFailure?.isUnreachable != true
  }

  /// How much of the time for all tries of an entry in progress is left, in seconds; nil when that has no limit.
  func timeLeft(_ id: PhotoRecord.ID, _ configuration: Configuration) -> Double? {
    guard let limit = configuration.entryTimeout else { return nil }
    guard let began = scheduler.started(id)?.history.roundBegan else { return limit }
    return limit - Double(suspension.activity.now(Clock.monotonicMilliseconds) - began) / 1000
  }
}

extension EntryScheduler.Next {
  var id: PhotoRecord.ID { PhotoRecord.ID(run: run, position: entry.position) }
}

extension TransferConfiguration {
  /// Whether the time for all tries of an entry leaves less than a connection may take.
  /// - Parameters:
  ///   - left: What is left of it, in seconds; nil when it has no limit.
  ///   - budget: How long the try may take otherwise.
  func isCutShort(left: Double?, _ budget: HostBreaker.Budget) -> Bool {
    guard let left else { return false }
    let connect = HostSettings(budget, self, left: nil).connectTimeout ?? connectTimeout
    return .seconds(max(0, left)) < connect
  }
}

extension PhotoRecord.Live {
  /// How the host failed; nil when it did not. Another entry may have made the request, or nobody, since the host was given up.
  var failureOfHost: HostBreaker.Failure? { usage.isOwn ? usage.contact.failure : failure?.hostFailure }
}

extension HostBreaker.Failure {
  fileprivate var words: String {
    switch self {
    case .refused: "it cannot be reached"
    case .unresolved: "no name server answers"
    case .noNetwork: "there is no network"
    case .noProxy: "the proxy does not answer"
    case .unanswered, .silent: "it is silent"
    case .broken: "its answers break off"
    }
  }
}
