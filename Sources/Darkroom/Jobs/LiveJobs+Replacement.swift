import Ledger
import System

/// Runs whose manifests are replaced while they are live. The new manifest is planned beside the old run; if it is rejected
/// nothing changes. Otherwise the old run is superseded, and ends as a cancelled one does, except that what runs of it and is
/// unchanged in the new manifest gets some time to end. Then the new run is planned again, and begins as any run does.
extension LiveJobs {
  /// Has the planned manifest of a run take the place of a live one's.
  func replace(_ number: Int, by successor: Int, now: Double) {
    guard let run = runs[number], let new = runs[successor] else { return }
    let name = run.name
    if case .waiting(let plan) = new.phase {
      let awaited = JobRun.Awaited(positions: wanted(of: run, by: plan), until: now + JobRun.Awaited.time)
      guard close(run, awaiting: awaited) else { return }
      // Runs before that one may be ending still.
      for earlier in runs.values where earlier.name == name && earlier !== run {
        awaitOperations(of: earlier, wanted(of: earlier, by: plan), now: now)
      }
      recordChain(from: run, to: new)
    } else if !close(run, awaiting: JobRun.Awaited()) {
      return
    }
    observe(.jobReplaced(job: name))
  }

  /// Has a planned manifest leave nothing that lists the same as the one that it was to replace, whose run goes on: its file is
  /// that of the other one from now on.
  func leaveToSame(_ run: JobRun) {
    guard let old = run.replaces.flatMap({ runs[$0] }), old.unwanted == nil, var (job, manifest) = old.accepted,
      let new = run.accepted?.manifest, manifest.isSame(as: new)
    else { return }
    manifest.identity = new.identity
    guard let details = try? manifest.text else { return }
    switch old.phase {
    case .waiting(var plan):
      plan.manifest = manifest
      old.phase = .waiting(plan)
    case .running(let entries): entries.plan.manifest = manifest
    case .planning, .closing, .reporting: return
    }
    job.details = details
    old.accepted = (job, manifest)
    delivery.record([.note(job.runID, details: details)])
    close(run, awaiting: JobRun.Awaited())
  }

  /// The entries of a run with operations that have begun, and that another manifest wants as well: the same of the same
  /// request. Files are none of them: they are read again. What has not begun begins no more, so that it is not asked for twice.
  private func wanted(of run: JobRun, by plan: Plan) -> Set<Int> {
    guard let old = run.plan, old.source == nil else { return [] }
    return pending.keepBegun(run: run.number) { position in
      // What cannot be compared is done again.
      guard let entry = try? old.index.identity(at: position), let work = entry.work else { return false }
      return (try? plan.index.identity(named: entry.name))?.work == work
    }
  }

  /// Records the first run of those of which each has replaced the one before: what these have asked for is known. From then on
  /// the old run is superseded, also for the next start.
  private func recordChain(from run: JobRun, to new: JobRun) {
    guard let (first, old) = run.accepted, var (job, manifest) = new.accepted else { return }
    manifest.chain = old.chain ?? .init(runID: first.runID, accepted: old.accepted)
    guard let details = try? manifest.text else { return }
    job.details = details
    new.accepted = (job, manifest)
    delivery.record([.note(job.runID, details: details)])
  }

  /// Cancels those operations of a superseded run for which nobody waits any more: their time is over, or nobody wants the
  /// later run.
  func endWait(for run: JobRun, now: Double) {
    guard case .closing(let closing) = run.phase, !closing.awaited.positions.isEmpty else { return }
    let isWanted = runs.values.contains {
      $0.name == run.name && $0.order > run.order && $0.unwanted == nil && $0.isUnfinished
    }
    awaitOperations(of: run, isWanted ? closing.awaited.positions : [], now: now)
  }

  private func awaitOperations(of run: JobRun, _ wanted: Set<Int>, now: Double) {
    guard case .closing(var closing) = run.phase, closing.isSuperseded else { return }
    let cancelled = closing.awaited.keep(wanted, now: now)
    run.phase = .closing(closing)
    if !cancelled.isEmpty { pending.cancel(run: run.number, where: cancelled.contains) }
  }

  /// When operations of superseded runs are cancelled that have not ended before, in seconds; nil when there are none.
  var nextWaitEnd: Double? {
    runs.values.compactMap { run in
      guard case .closing(let closing) = run.phase, pending.isInProgress(run: run.number) else { return nil }
      return closing.awaited.positions.isEmpty ? nil : closing.awaited.until
    }.min()
  }

  /// Has the report of a superseded run written, if something of it has ended.
  func finishSuperseded(_ run: JobRun, _ entries: RunEntries) {
    let transfers = scheduler.transfers(run: run.number)
    flow.remove(run.number)
    guard entries.tally.counts.total > 0 else {
      remove(run)
      return runEnded(entries.plan.run.runID)
    }
    // Its log is there.
    delivery.forget(run: run.number)
    var plan = entries.plan
    plan.run = plan.run.inHistory
    let outcome = JobOutcome(entries.tally, transfers, at: Clock.wallMilliseconds, taking: elapsed(run)).superseded
    run.phase = .reporting(.init(plan: plan, outcome: outcome))
    finish(run.number)
  }

  /// Has a planned manifest planned again: what it was to replace has ended.
  func planSeparately(_ run: JobRun) {
    guard case .waiting(let plan) = run.phase else { return }
    planner.indexes.give(back: plan.index)
    var job = plan.job
    job.details = run.accepted?.job.details ?? job.details
    run.isPlannedAgain = true
    planAgain(run, job)
  }

  /// Has files that were dealt with looked at again, because the inbox was away; those of live runs are not new for that.
  func inboxReturned() {
    queue.inboxReturned()
    // Of several runs of a job the last one's manifest may be there.
    for run in runs.values.sorted(by: { $0.order < $1.order }) {
      guard let manifest = run.accepted?.manifest, manifest.inboxPath != nil else { continue }
      queue.pass(manifest.file, identity: manifest.identity)
    }
  }
}
