import Ledger
import System

/// What pauses mean for the live jobs.
extension LiveJobs {
  /// Records what a change of the pauses means for the live jobs.
  /// - Parameter before: The pauses that held before.
  func record(_ change: PauseTracker.Change, before: [LedgerPause]) {
    guard !change.began.isEmpty || !change.ended.isEmpty else { return }
    let now = Clock.wallMilliseconds
    var pauses = suspension.pauses.open(since: 0)
    for var pause in before where change.ended.contains(where: { $0.kind == pause.cause && $0.lock == pause.lock }) {
      pause.ended = now
      pauses.append(pause)
    }
    delivery.record(runs.values.flatMap { run in pauses.compactMap(run.record) })
  }

  /// Takes over the pauses of a run that was planned. Those that held when an earlier process died go on if their cause is
  /// still there; if not, they ended when that process last did something.
  func resumePauses(_ run: JobRun, _ plan: Plan) -> [LedgerChange] {
    let started = plan.manifest.accepted
    var changes: [LedgerChange] = []
    for var pause in plan.pauses {
      if pause.ended == nil, !suspension.adopt(pause) { pause.ended = max(pause.began, lastActive) }
      if let change = run.record(pause) { changes.append(change) }
    }
    let tracked = suspension.pauses.ended(since: started) + suspension.pauses.open(since: started)
    return changes + tracked.compactMap(run.record)
  }

  /// Ends the pauses of all runs, because the program does, and delivers what was submitted.
  func closePauses() {
    delivery.record(runs.values.flatMap(closePauses))
    delivery.drain()
  }

  /// Ends the pauses of a run, because the program or the job does.
  func closePauses(_ run: JobRun) -> [LedgerChange] {
    let now = Clock.wallMilliseconds
    return run.pauses.filter { $0.ended == nil }.compactMap { pause in
      var pause = pause
      pause.ended = now
      return run.record(pause)
    }
  }
}
