import Model
import Scheduling
import System

/// The entries of a run that is planned: what its rows add up to, and what `EntryFlow` keeps of it. It belongs to the thread
/// of `Darkroom`.
final class RunEntries {
  /// What becomes of the entries of a run.
  enum Activity: Equatable {
    /// Some are in progress, or may start.
    case busy
    /// None is in progress.
    case idle
    /// All that are left are deferred.
    case deferred
  }

  var plan: Plan

  /// What the rows that are durable add up to.
  var tally: JobTally

  /// When this process began with it, in milliseconds of the clock that stands still during pauses, and how many of its rows
  /// there were then.
  let began: (milliseconds: Int, ended: Int)

  /// When an entry of it last started, as `Clock.monotonicSeconds`.
  var lastStarted: Double

  /// Records of it that are being delivered.
  var undelivered = 0

  /// The positions of the entries that start last, because the program has ended over them.
  var suspects: [Int]

  /// Since when nothing else of it is left, as `Clock.monotonicSeconds`; nil while something is.
  var suspectsSince: Double?

  /// Whether nothing of it starts or is tried again, because the run is cancelled or superseded.
  fileprivate(set) var isClosing = false

  /// The entries whose operations may end after it is superseded, because the later manifest wants the same of the same
  /// requests.
  private(set) var awaited: Set<Int> = []

  /// How often entries were tried that have no row when it is closed, by position.
  var attempts: [Int: Int] = [:]

  var hosts: ClosedHosts

  /// - Parameters:
  ///   - activeTime: Milliseconds of the clock that stands still during pauses.
  ///   - hosts: What is known about its hosts already. Default: nothing.
  init(_ plan: Plan, activeTime: Int, now: Double, hosts: ClosedHosts = ClosedHosts()) {
    self.plan = plan
    tally = plan.tally
    began = (activeTime, plan.tally.counts.total)
    lastStarted = now
    suspects = plan.start.suspects
    self.hosts = hosts
  }

  /// Whether its only entry is the list that says what its entries are.
  var isSource: Bool { plan.source != nil }

  /// How many of its entries have no durable row.
  var left: Int { plan.total - tally.counts.total }

  var isDone: Bool { left <= 0 }

  /// Whether all that is left of it is being delivered.
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

/// When hosts of a run did not answer.
struct ClosedHosts {
  /// Those that have opened or were given up, in the order in which that happened.
  var ended: [HostHold] = []

  /// Those at which the run had entries when they were closed, and that are still, by their numbers.
  var open: [Int: HostBreaker.Closed] = [:]

  /// Records that a host was closed until now.
  /// - Parameters:
  ///   - host: Its name.
  ///   - accepted: When the manifest was accepted, in milliseconds since 1970.
  mutating func record(_ closed: HostBreaker.Closed, of host: String, accepted: Int) {
    guard ended.count < HostHold.limit else { return }
    let now = Clock.wallMilliseconds
    let began = now - (Clock.monotonicMilliseconds - closed.since)
    ended.append(HostHold(cause: closed.failure.text, host: host, began: max(began, accepted), ended: now))
  }
}
