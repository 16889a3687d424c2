import Delivery
import Ledger
import Model
import System

/// Records pauses of live jobs, and in the end of those that are not live yet.
extension LiveJobs {
  /// Records a change of the pauses for the live jobs.
  /// - Parameter before: The pauses before the change.
  func record(_ change: PauseTracker.Change, before: [LedgerPause]) {
    guard !change.began.isEmpty || !change.ended.isEmpty else { return }
    let pauses = suspension.pauses.open(since: 0) + change.ended(of: before, at: Clock.wallMilliseconds)
    delivery.record(runs.keys.flatMap { run in pauses.compactMap { table.runs[run]?.record($0) } })
  }

  /// The changes that record the pauses of this process for the jobs of an earlier one that are not live yet. All pauses have ended:
  /// the jobs become live in another process.
  private func pausesOfWaitingJobs(until now: Int) -> [LedgerChange] {
    var log = PauseLog()
    let pauses = suspension.pauses.ended(since: 0) + suspension.pauses.open(since: 0)
    for var pause in pauses.sorted(by: { $0.began < $1.began }) {
      pause.ended = pause.ended ?? now
      _ = log.record(pause)
    }
    if log.pauses.isEmpty { return [] }
    return table.queue.unfinished.flatMap { job -> [LedgerChange] in
      guard let accepted = try? JobManifest(text: job.details).accepted else { return [] }
      return log.pauses.filter { $0.ended ?? now > accepted }.map { .pause($0.clipped(to: accepted), run: job.runID) }
    }
  }

  /// Adds the recorded pauses of a run that was planned, and measures its time from now on. Pauses that had not ended
  /// when an earlier process died continue if their cause still exists. If not, they ended when that process was last
  /// active.
  func resumePauses(of number: Int, _ plan: Plan) -> [LedgerChange] {
    guard var run = table.runs[number] else { return [] }
    let started = plan.manifest.accepted
    var changes: [LedgerChange] = []
    for var pause in plan.pauses {
      if pause.ended == nil, !suspension.pauses.adopt(pause) { pause.ended = max(pause.began, lastActive) }
      if let change = run.record(pause) { changes.append(change) }
    }
    let tracked = suspension.pauses.ended(since: started) + suspension.pauses.open(since: started)
    for pause in tracked { if let change = run.record(pause) { changes.append(change) } }
    if case .unfinished = run.source {
      let (now, wall) = (Clock.monotonicMilliseconds, Clock.wallMilliseconds)
      let paused = Int(run.pauses.paused(until: wall) * 1000)
      run.time = RunTime(
        now: now, paused: suspension.activity.paused(now), earlier: .init(from: started, to: wall, paused: paused))
    }
    table.runs[number] = run
    return changes
  }

  /// Ends the pauses of all runs when the program ends, records the requests that were sent to servers, and delivers
  /// what was submitted.
  /// - Parameter seconds: How long a ledger that cannot be written is tried again. Without the end of a pause, it counts as having
  ///   ended when the program was last active.
  func closePauses(within seconds: Double) {
    let context = self.context
    delivery.record(
      table.runs.keys.flatMap { run in
        (table.runs[run]?.closePauses(now: context.wall) ?? []) + table.noteTransfers(run, context)
      } + pausesOfWaitingJobs(until: context.wall))
    delivery.drain(within: seconds)
  }
}
