import Model
import Scheduling
import System
import Transfer

/// What closed hosts, silent ones and the time for an entry mean for entries.
extension EntryFlow {
  /// Tells which hosts were closed, have opened or were given up.
  func reportHosts() {
    for change in scheduler.hosts.takeHostChanges() {
      let host = scheduler.shownName(of: change.host)
      if let ended = change.ended { record(ended, of: change.host) }
      switch change.kind {
      case .closed(let failure):
        for (run, entries) in runs where hasEntries(run, at: change.host) {
          entries.hosts.open[change.host] = scheduler.hosts.closed(change.host)
        }
        let why = scheduler.failure(ofHost: change.host)?.message ?? "\(failure.words)"
        observe(.hostClosed(host: host, why: why))
      case .opened: observe(.hostOpened(host: host))
      case .givenUp: observe(.hostGivenUp(host: host, why: scheduler.failure(ofHost: change.host)?.message ?? ""))
      }
    }
  }

  private func hasEntries(_ run: Int, at host: Int) -> Bool {
    host == HostScheduler.files ? runs[run]?.isClosing == false : scheduler.hosts.has(job: run, at: host)
  }

  /// Records for the report of each run with entries at a host that it was closed until now.
  private func record(_ closed: HostBreaker.Closed, of host: Int) {
    for (run, entries) in runs {
      let wasHeld = entries.hosts.open.removeValue(forKey: host) != nil
      guard wasHeld || hasEntries(run, at: host) else { continue }
      entries.hosts.record(closed, of: scheduler.shownName(of: host), accepted: entries.plan.manifest.accepted)
    }
  }

  /// When the hosts of a run that has ended did not answer, those included that do not yet.
  func holds(of entries: RunEntries) -> [HostHold] {
    for (host, closed) in entries.hosts.open.sorted(by: { $0.value.since < $1.value.since }) {
      entries.hosts.record(
        scheduler.hosts.closed(host) ?? closed, of: scheduler.shownName(of: host),
        accepted: entries.plan.manifest.accepted)
    }
    entries.hosts.open = [:]
    return entries.hosts.ended
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
    guard let tries = scheduler.started(record.id)?.history.tries, let failedAt = tries.failedAt else { return .closed }
    let servesOthers =
      tries.failsByItself || breaker.hasServed(since: failedAt + 1)
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
