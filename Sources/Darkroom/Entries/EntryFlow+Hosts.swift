import Model
import Scheduling
import System
import Transfer

/// Handles closed and silent hosts, and time limits of entries.
extension EntryFlow {
  /// Reports the hosts that were closed, opened or given up.
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
        observe(.host(host, .closed(why: why)))
      case .opened: observe(.host(host, .opened))
      case .givenUp: observe(.host(host, .givenUp(why: scheduler.failure(ofHost: change.host)?.message ?? "")))
      }
    }
  }

  private func hasEntries(_ run: Int, at host: Int) -> Bool {
    host == HostScheduler.files ? runs[run]?.isClosing == false : scheduler.hosts.has(job: run, at: host)
  }

  /// Records a host's hold, which ends now, for the reports of the runs with entries at the host.
  private func record(_ closed: HostBreaker.Closed, of host: Int) {
    for (run, entries) in runs {
      let wasHeld = entries.hosts.open.removeValue(forKey: host) != nil
      guard wasHeld || hasEntries(run, at: host) else { continue }
      entries.hosts.record(closed, of: scheduler.shownName(of: host), accepted: entries.plan.manifest.accepted)
    }
  }

  /// The holds of a run that ends, including those of hosts that are still closed.
  func holds(of entries: RunEntries) -> [HostHold] {
    for (host, closed) in entries.hosts.open.sorted(by: { $0.value.since < $1.value.since }) {
      entries.hosts.record(
        scheduler.hosts.closed(host) ?? closed, of: scheduler.shownName(of: host),
        accepted: entries.plan.manifest.accepted)
    }
    entries.hosts.open = [:]
    return entries.hosts.ended
  }

  /// Gives up the closed hosts during whose hold no other host has answered for a number of seconds.
  func giveUpHosts(after seconds: Double) {
    scheduler.hosts.giveUpUnanswered(after: Int(seconds * 1000), now: Clock.monotonicMilliseconds)
  }

  /// The state of an entry's host after the entry's failure.
  func hostState(_ record: PhotoRecord, _ live: PhotoRecord.Live, wasTried: Bool) -> EndedEntry.HostState {
    guard let failure = live.failureOfHost else { return .open }
    let breaker = scheduler.breaker(ofHostOf: record.id)
    if breaker.isGivenUp { return .givenUp }
    if !wasTried { return .closed }
    // The entry failed before, and since then the host has served others: the failures are the entry's own.
    if scheduler.failsByItself(record.id) { return .answering }
    let isHeld = breaker.isClosed || failure.isOfMachine && !breaker.hasAnswered && scheduler.hosts.isMachineHeld
    // A request that may have had side effects is not repeated for that.
    guard isHeld, record.entry.request.isCacheable || !wasSent(record, live) else { return .open }
    // If the machine may be the cause, the same holds when other hosts were reached.
    guard failure.isOfMachine, !breaker.hasAnswered, let failedAt = scheduler.started(record.id)?.history.tries.failedAt
    else { return .closed }
    return scheduler.hosts.hasReached(failure, since: failedAt + 1) ? .answering : .closed
  }

  /// Whether the last try may have sent the entry's request, by itself or by a shared download.
  func wasSent(_ record: PhotoRecord, _ live: PhotoRecord.Live) -> Bool {
    if live.usage.isOwn { return live.usage.requests.sent > 0 }
    guard live.attempts > scheduler.started(record.id)?.history.attempts ?? 0 else { return false }
    return live.failure?.hostFailure?.isUnreachable != true
  }

  /// The remaining time for all tries of an entry in progress, in seconds; nil without a limit.
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
  /// Whether the remaining time of an entry is shorter than the connect timeout.
  /// - Parameters:
  ///   - left: The remaining time in seconds; nil without a limit.
  ///   - budget: The time limit of the try.
  func isCutShort(left: Double?, _ budget: HostBreaker.Budget) -> Bool {
    guard let left else { return false }
    let connect = HostSettings(budget, self, left: nil).connectTimeout ?? connectTimeout
    return .seconds(max(0, left)) < connect
  }
}

extension PhotoRecord.Live {
  /// How the host failed; nil when it did not. The request may have been another entry's, or none was sent because the
  /// host was given up.
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
