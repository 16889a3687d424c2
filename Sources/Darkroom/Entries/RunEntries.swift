import Model
import Scheduling
import System

/// The entries of a planned run: the sums of its rows, and its state in `EntryFlow`. Used on the thread of `Darkroom`.
final class RunEntries {
  /// The activity of a run.
  enum Activity: Equatable {
    /// Some entries are in progress, or may start.
    case busy
    /// No entry is in progress.
    case idle
    /// All remaining entries are deferred, or at hosts that are not asked for some time.
    case resting
  }

  var plan: Plan

  /// The sums of the durable rows.
  var tally: JobTally

  /// The active time, in milliseconds without pauses, and the number of rows when this process began with the run.
  let began: (milliseconds: Int, ended: Int)

  /// When an entry of the run last started, as `Clock.monotonicSeconds`.
  var lastStarted: Double

  /// The number of its records that are being delivered.
  var undelivered = 0

  /// The positions of the entries that start last, because the program has crashed during their filtrations.
  var suspects: [Int]

  /// Since when only suspects are left, as `Clock.monotonicSeconds`; nil while others are.
  var suspectsSince: Double?

  /// Whether its entries are not started or tried any more, because the run is cancelled or superseded.
  fileprivate(set) var isClosing = false

  /// The entries of a superseded run whose operations may finish, because the later manifest wants the same results.
  private(set) var awaited: Set<Int> = []

  /// The numbers of tries of entries without rows when it was closed, by position.
  var attempts: [Int: Int] = [:]

  var hosts: ClosedHosts

  /// - Parameters:
  ///   - activeTime: Milliseconds of the clock that stops during pauses.
  ///   - hosts: The holds of its hosts so far. Default: none.
  init(_ plan: Plan, activeTime: Int, now: Double, hosts: ClosedHosts = ClosedHosts()) {
    self.plan = plan
    tally = plan.tally
    began = (activeTime, plan.tally.counts.total)
    lastStarted = now
    suspects = plan.start.suspects
    self.hosts = hosts
  }

  /// Whether its only entry is the source of its list of entries.
  var isSource: Bool { plan.source != nil }

  /// The number of its entries without a durable row.
  var left: Int { plan.total - tally.counts.total }

  var isDone: Bool { left <= 0 }

  /// Whether all remaining entries are being delivered.
  var waitsForDelivery: Bool { isClosing || !isSource && left <= undelivered }

  func close(attempts: [Int: Int], awaiting awaited: Set<Int>) {
    isClosing = true
    suspects = []
    (self.attempts, self.awaited) = (attempts, awaited)
  }

  /// - Returns: The entries that are not awaited any more.
  func keepAwaiting(_ wanted: Set<Int>) -> Set<Int> {
    defer { awaited.formIntersection(wanted) }
    return awaited.subtracting(wanted)
  }
}

/// The holds of a run's hosts.
struct ClosedHosts {
  /// The ended holds, in the order in which they ended.
  var ended: [HostHold] = []

  /// The hosts that are closed now and at which the run had entries when they were closed, by number.
  var open: [Int: HostBreaker.Closed] = [:]

  /// Records the end of a host's hold, or how long it has lasted so far.
  /// - Parameters:
  ///   - host: The host's name.
  ///   - accepted: When the manifest was accepted, in milliseconds since 1970.
  mutating func record(_ closed: HostBreaker.Closed, of host: String, accepted: Int) {
    let now = Clock.wallMilliseconds
    let began = now - (Clock.monotonicMilliseconds - closed.since)
    let hold = HostHold(cause: closed.failure.text, host: host, began: max(began, accepted), ended: now)
    if let last = ended.lastIndex(where: { $0.host == host }), ended[last].ended >= hold.began {
      // The same hold, which had not ended when the run was set aside.
      ended[last] = HostHold(cause: hold.cause, host: host, began: ended[last].began, ended: now)
    } else if ended.count < HostHold.limit {
      ended.append(hold)
    }
  }
}
