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
    defer { if case .unfinished = run.source { run.time = runTime(after: plan, run) } }
    for var pause in plan.pauses {
      if pause.ended == nil, !suspension.adopt(pause) { pause.ended = max(pause.began, lastActive) }
      if let change = run.record(pause) { changes.append(change) }
    }
    let tracked = suspension.pauses.ended(since: started) + suspension.pauses.open(since: started)
    return changes + tracked.compactMap(run.record)
  }

  /// Measures a run from now on.
  func runTime(earlier: RunTime.Elapsed = .init(total: 0, paused: 0)) -> RunTime {
    let now = Clock.monotonicMilliseconds
    return RunTime(now: now, paused: suspension.activity.paused(now), earlier: earlier)
  }

  /// Measures a run that an earlier process began, and whose pauses are known.
  private func runTime(after plan: Plan, _ run: JobRun) -> RunTime {
    let (start, now) = (plan.manifest.accepted, Clock.wallMilliseconds)
    let paused = Int(PauseTracker.paused(run.pauses, until: now) * 1000)
    return runTime(earlier: .init(from: start, to: now, paused: paused))
  }

  /// How long a run has taken; nil before it is in the ledger.
  func elapsed(_ run: JobRun) -> RunTime.Elapsed? {
    let now = Clock.monotonicMilliseconds
    return run.time?.elapsed(now: now, paused: suspension.activity.paused(now))
  }

  /// Ends the pauses of all runs, because the program does, and delivers what was submitted.
  func closePauses() {
    delivery.record(runs.values.flatMap { closePauses($0) + noteTransfers($0) })
    delivery.drain()
  }

  /// Records what was asked of servers for a run that the next start goes on with.
  private func noteTransfers(_ run: JobRun) -> [LedgerChange] {
    guard let (job, accepted) = run.accepted else { return [] }
    var manifest = accepted
    manifest.transfers = transfers(of: run)
    guard manifest.transfers?.total.requests ?? 0 > 0, let details = try? manifest.text else { return [] }
    return [.note(job.runID, details: details)]
  }

  /// What was asked of servers for a run, also by earlier processes.
  func transfers(of run: JobRun) -> Transfers {
    if case .reporting(let reporting) = run.phase { return reporting.outcome.transfers }
    let transfers = scheduler.transfers(run: run.number)
    return transfers.total.requests > 0 ? transfers : run.sourceTransfers
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
