import Foundation
import System

/// How long `run` waits while nothing goes on. `watch` has all the time there is.
struct Patience {
  private let limit: Double?

  /// A file that is not written any more settles within this time, in seconds.
  private let settleTime: Double

  /// Since when there has been nothing to do but to wait for manifests that are still being written.
  private var unsettledSince: Double?

  init(_ configuration: Configuration) {
    limit = configuration.lockWait
    settleTime = configuration.settle + configuration.pollInterval
  }

  /// When the time is over unless something goes on, as `Clock.monotonicSeconds`; nil while something does, or when there
  /// is no limit. As the last `check` found it.
  private(set) var deadline: Double?

  /// - Throws: `StopError` when nothing has gone on for longer than `--lock-wait`, once what runs has finished.
  mutating func check(_ jobs: LiveJobs, now: Double) throws {
    deadline = nil
    try checkUnsettled(jobs, now)
    // What is being delivered does not go on either, when it is stuck.
    guard let limit, jobs.pending.isIdle, jobs.undelivered == 0 || jobs.suspension.stuckSince != nil,
      let since = jobs.suspension.since
    else { return }
    let end = Double(since) / 1000 + limit
    deadline = end
    guard now >= end else { return }
    throw StopError.pausedTooLong(seconds: limit, causes: jobs.suspension.pauses.description)
  }

  private mutating func checkUnsettled(_ jobs: LiveJobs, _ now: Double) throws {
    guard jobs.runs.isEmpty, jobs.undelivered == 0, jobs.suspension.since == nil else { return unsettledSince = nil }
    let since = unsettledSince ?? now
    unsettledSince = since
    guard let limit else { return }
    deadline = since + limit + settleTime
    guard now >= since + limit + settleTime else { return }
    throw StopError.unsettled(files: jobs.queue.queued(limit: 10).files, seconds: limit)
  }
}
