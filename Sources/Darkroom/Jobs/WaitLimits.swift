import Model
import Operations
import System

/// Limits how long `run` waits while nothing progresses. `watch` has no such limits.
package struct WaitLimits {
  private let limit: Double?

  /// What the last process has reported. Default: nothing.
  var known = KnownTrouble()

  /// The time within which a file settles that is not written any more, in seconds. A shorter limit does not count for manifests.
  private let settleTime: Double

  /// Since when there is nothing to do except to wait for manifests that are being written.
  private var unsettledSince: Double?

  /// Since when the machine has failed.
  private var troubleSince: Double?

  /// The limit for failures of the machine, in seconds.
  package static let troubleLimit = 60.0

  /// How long a manifest may be open for writing if nothing else is to be done, without `--lock-wait`, in seconds.
  static let openLimit = 60.0

  /// - Parameter settleTime: How long a file must be unchanged, in seconds.
  init(_ configuration: Configuration, settleTime: Double) {
    limit = configuration.lockWait
    self.settleTime = settleTime + configuration.pollInterval
  }

  /// When the limit is reached unless something progresses, as `Clock.monotonicSeconds`; nil while something does, or
  /// without a limit. Set by `check`.
  private(set) var deadline: Double?

  /// - Parameter inboxTrouble: Why the inbox, or a file in it, cannot be read now; nil when all can.
  /// - Throws: `StopError` when a limit is exceeded and all running operations have finished.
  mutating func check(_ jobs: LiveJobs, inboxTrouble: String? = nil, now: Double) throws {
    deadline = nil
    try checkUnsettled(jobs, now)
    try checkTrouble(jobs, inboxTrouble, now)
    // A delivery that is stuck does not count as progress.
    guard let limit, jobs.pending.isIdle,
      jobs.flow.undelivered == 0 || jobs.suspension.failures.stuckSince != nil,
      let since = jobs.suspension.since
    else { return }
    let known = known
    // A manifest that is being planned is accepted first, unless it cannot be read.
    let planning = jobs.work.isPlanning ? Self.troubleLimit : 0
    try wait(until: Double(since) / 1000 + limit + planning, now) {
      let causes = [jobs.suspension.pauses.description] + jobs.flow.holds.planning.map(\.hold.reason)
      let text = causes.filter { !$0.isEmpty }.joined(separator: ", ")
      let isKnown = known.covers(jobs.suspension.pauses.open(since: 0)) && jobs.flow.holds.planning.isEmpty
      return .pausedTooLong(seconds: limit, causes: text, isKnown: isKnown)
    }
  }

  /// - Throws: The error of `error` when the time is over.
  private mutating func wait(until end: Double, _ now: Double, or error: () -> StopError) throws {
    guard now < end else { throw error() }
    deadline = min(deadline ?? end, end)
  }

  /// - Throws: `StopError.machine` when the machine has failed for too long, and nothing else progresses.
  private mutating func checkTrouble(_ jobs: LiveJobs, _ inboxTrouble: String?, _ now: Double) throws {
    let trouble = jobs.suspension.failures.reason(now: Clock.monotonicSeconds) ?? jobs.flow.holds.machineTrouble
    guard let reason = trouble ?? inboxTrouble else { return troubleSince = nil }
    let since = max(troubleSince ?? now, jobs.suspension.failures.lastWritten)
    troubleSince = since
    guard jobs.pending.isIdle else { return }
    try wait(until: since + Self.troubleLimit, now) { .machine(reason: reason, seconds: Self.troubleLimit) }
  }

  private mutating func checkUnsettled(_ jobs: LiveJobs, _ now: Double) throws {
    // While the cache is being cleared no manifest is taken, however settled it is.
    guard jobs.runs.isEmpty, jobs.flow.undelivered == 0, jobs.suspension.since == nil, !jobs.suspension.space.awaitsRoom
    else { return unsettledSince = nil }
    let since = unsettledSince ?? now
    unsettledSince = since
    guard let limit else { return }
    try wait(until: since + max(limit, settleTime), now) {
      let held = jobs.flow.holds.planning.prefix(10).map { "job \($0.job): \($0.hold.reason)" }
      if !held.isEmpty { return .held(jobs: held, seconds: limit) }
      return .unsettled(files: jobs.table.queue.queued(limit: 10).files, seconds: limit)
    }
  }
}
