import Scheduling
import System
import Transfer

/// What outages of the network, silent hosts and the time for an entry mean for entries.
extension LiveJobs {
  /// Probes the network when that is due, and decides on the entries that waited for the result.
  func watchNetwork(_ configuration: Configuration) throws {
    network.probe(isWanted: !awaitingOutageCheck.isEmpty)
    suspension.networkReason = network.reason
    if network.hasReturned() { scheduler.forgetSilences() }
    guard !awaitingOutageCheck.isEmpty else { return }
    let waiting = awaitingOutageCheck
    awaitingOutageCheck = []
    for record in waiting {
      if outage(record.id) == .unknown {
        awaitingOutageCheck.append(record)
      } else {
        decide(on: record, configuration)
      }
    }
  }

  /// Whether the last try of an entry failed because of an outage of the network.
  func outage(_ id: PhotoRecord.ID) -> EndedEntry.Outage {
    guard let suspicion = scheduler.suspicion(id) else { return .none }
    if network.detector.isOutage(suspicion) { return .declared }
    return network.isUndecided(suspicion) ? .unknown : .none
  }

  /// Whether an entry failed because its host is silent, as it was before.
  func isHostSilent(_ record: PhotoRecord, _ live: PhotoRecord.Live) -> Bool {
    live.usage.contact == .silent && scheduler.reachability(ofHostOf: record.id).isGivenUp
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
  ///   - budget: How long the try may take otherwise; nil for as long as any other.
  func isCutShort(left: Double?, _ budget: Reachability.Budget?) -> Bool {
    guard let left else { return false }
    let connect = budget.map { .milliseconds($0.connect) } ?? connectTimeout
    return .seconds(max(0, left)) < min(connect, connectTimeout)
  }
}
