import Dispatch
import Ledger
import System

/// Runs whose manifests are replaced while they are live. The new manifest is planned beside the old run; if it is rejected
/// nothing changes. Otherwise nothing of the old run starts any more, both are compared, what is gone is cancelled, and the new
/// run begins with everything else. What was in progress and is unchanged ends in the old run, and each row goes over then. The
/// old run does not need the new one for that, which may be cancelled, replaced, planned again or at its end.
extension LiveJobs {
  /// Has the planned manifest of a run take the place of a live one's.
  func replace(_ number: Int, by successor: Int) {
    guard let run = runs[number], let new = runs[successor] else { return }
    if case .fetching = run.phase {
      stopFetching(run, as: .superseded)
      // Without another it waits for the end of that.
      if run.replaces.map({ runs[$0] != nil }) == true { relink(from: run) }
      return
    }
    guard case .ready(var plan) = new.phase, run.replaces == nil else { return }
    let running: JobRun.Running
    switch run.phase {
    case .ready(var plan):
      // Those of the new one are recorded instead, and it has found these.
      plan.names = []
      running = .init(plan: plan, tally: plan.tally, began: (activeTime, plan.tally.counts.total))
    case .running(let begun):
      // What that has named, and what it has done, matters.
      if new.isPlannedEarly { return discardPlan(of: new) }
      running = begun
    case .planning, .fetching, .cancelling, .replaced, .replacing, .finishing: return
    }
    let attempts = scheduler.stop(run: number, now: Clock.monotonicMilliseconds)
    let started = scheduler.startedEntries(run: number).union(leftToPredecessor(of: number))
    // What it has asked for is known.
    plan.run.accepted = min(plan.run.accepted, running.plan.run.accepted)
    run.phase = .replaced(
      .init(running: running, successor: successor, heir: plan.run, started: started, attempts: attempts))
    run.suspects = []
    machineFailures = machineFailures.filter { $0.key.run != number }
    // Its log becomes the new run's.
    delivery.mute(run: number, in: running.plan.run.folder)
    new.phase = .replacing(plan)
    new.replaces = nil
    compare(number)
  }

  /// Has nothing start of runs whose manifests are replaced, until it is known what the new ones lack. What has begun goes on.
  func suspendReplaced() {
    let suspended = replacedRuns
    for run in suspended.subtracting(scheduler.suspended) { pending.setSuspended(true, run: run) }
    for run in scheduler.suspended.subtracting(suspended) { pending.setSuspended(false, run: run) }
    scheduler.suspended = suspended
  }

  /// The runs of whose entries it is not known which are wanted: a manifest that is to replace theirs is being planned, or
  /// compared with it. Those are among them that such a run is to replace, or has replaced. What is planned and cannot take its
  /// place yet may wait for these.
  private var replacedRuns: Set<Int> {
    var found: Set<Int> = []
    for run in runs.values {
      switch run.phase {
      case .planning: insert(run.replaces, into: &found)
      case .replaced(let replaced) where replaced.comparison == nil: insert(run.number, into: &found)
      case .ready, .replaced, .fetching, .running, .replacing, .cancelling, .finishing: break
      }
    }
    return found
  }

  private func insert(_ number: Int?, into found: inout Set<Int>) {
    guard let run = number.flatMap({ runs[$0] }), found.insert(run.number).inserted else { return }
    insert(run.replaces ?? predecessor(of: run.number)?.number, into: &found)
  }

  /// Has a planned manifest planned again: what has become since of the run that it is to replace, or of one that has ended
  /// before it was replaced, matters for what is left to do.
  func discardPlan(of run: JobRun) {
    guard case .ready(let plan) = run.phase else { return }
    planner.indexes.give(back: plan.index)
    planAgain(run, plan.job)
  }

  /// Has the manifests of a run and of the one that replaces it compared.
  func compare(_ number: Int) {
    guard let run = runs[number], case .replaced(var replaced) = run.phase, !replaced.isUnderWay,
      case .replacing(let plan)? = runs[replaced.successor]?.phase
    else { return }
    replaced.isUnderWay = true
    run.phase = .replaced(replaced)
    let (replacement, started) = (replacement(of: replaced), replaced.started)
    let waiting = scheduler.waiting(run: number)
    DispatchQueue(label: "Comparison").async(group: background) { [send, stopFlag] in
      let result = Result {
        try replacement.compare(with: plan, started: started, waiting: waiting) { stopFlag.isSet }
      }
      send(.compared(run: number, result))
    }
  }

  func replacement(of replaced: JobRun.Replaced) -> JobReplacement {
    let plan = replaced.running.plan
    return JobReplacement(old: plan.run, oldIndex: plan.index, ledger: planner.ledger)
  }

  /// Takes in what the comparison came to, and cancels what is gone.
  func compared(_ number: Int, _ result: Result<JobReplacement.Comparison, any Error>) throws {
    guard let run = runs[number], case .replaced(var replaced) = run.phase else { return }
    replaced.isUnderWay = false
    run.phase = .replaced(replaced)
    if case .failure(let error) = result, error is CancellationError { return }
    try withTrouble(about: run, isPlanning: false) {
      if case .failure(let error) = result,
        isDamageOfIndex(error, of: run) || runs[replaced.successor].map({ isDamageOfIndex(error, of: $0) }) == true
      {
        tellUntold(of: run)
        // Both are planned again when nothing of this one is in progress.
        cancelOperations(of: number) { $0.run == number }
        return indexFailed(.init(run: number, cause: error))
      }
      let comparison = try result.get()
      run.hold = nil
      replaced.comparison = comparison
      run.phase = .replaced(replaced)
      tellUntold(of: run) { comparison.carried[$0] == nil }
      cancelOperations(of: number, where: isGone)
      // Of these nothing has begun again meanwhile.
      observe(.jobReplaced(job: run.name, carried: comparison.tally.counts.total + comparison.carried.count))
    }
  }

  /// Whether what becomes of an entry does not matter any more, because the manifest that replaces its run's lacks it, or
  /// the one that replaces that.
  func isGone(_ id: PhotoRecord.ID) -> Bool {
    guard case .replaced(let replaced)? = runs[id.run]?.phase, let comparison = replaced.comparison
    else { return false }
    guard let entry = comparison.carried[id.position] else { return true }
    return isGone(.init(run: replaced.successor, position: entry.position))
  }

  /// Whether nothing of a run that was replaced, or of those that it has replaced, is in progress that is gone: a result of
  /// that is not to take the place of a newer one.
  private func isRid(_ run: JobRun) -> Bool {
    run.undelivered == 0 && !pending.isInProgress(run: run.number) { isGone(.init(run: run.number, position: $0)) }
      && predecessor(of: run.number).map(isRid) != false
  }

  /// Begins with runs that replace others, once what is gone of these has ended.
  func beginReplacements(now: Double) {
    for run in runs.values {
      guard case .replaced(var replaced) = run.phase, let comparison = replaced.comparison, !replaced.hasBegun,
        isRid(run), let new = runs[replaced.successor], case .replacing(var plan) = new.phase
      else { continue }
      // They are in the ledger.
      plan.names = []
      replaced.hasBegun = true
      run.phase = .replaced(replaced)
      let ended = comparison.tally.counts.total
      scheduler.add(
        run: new.number, plan.index, deferred: comparison.deferred, dependencies: comparison.dependencies,
        heldVariants: comparison.heldVariants, waitingVariants: comparison.waitingVariants,
        transfers: new.sourceTransfers)
      new.phase = .running(.init(plan: plan, tally: comparison.tally, began: (activeTime, ended)))
      (new.since, new.lastStarted) = (now, now)
      observe(.jobStarted(job: new.name, total: plan.total, ended: ended, deferred: comparison.deferred.count))
      do throws(EntryScheduler.IndexError) {
        try scheduler.handOver(comparison.waiting, from: run.number, to: new.number, now: Clock.monotonicMilliseconds)
        scheduler.dropPartials(run: run.number) { comparison.carried[$0] == nil }
      } catch {
        indexFailed(error)
      }
      carryUntold(of: run)
      startUnbegun(of: run)
    }
  }

  /// A run that was replaced goes without having been settled: the one that replaces it does what was left to it, and is
  /// planned again if it had not begun.
  func abandonReplacement(_ run: JobRun) {
    tellUntold(of: run)
    guard case .replaced(let replaced) = run.phase, let new = runs[replaced.successor] else { return }
    if let comparison = replaced.comparison, replaced.hasBegun {
      start(Set(comparison.carried.values.map(\.position)), of: new)
    } else if let job = new.accepted?.job {
      takeOut(new)
      retry(new, planner.recorded(job))
    }
  }

  /// Records how often an entry was tried of which there is no row yet, because its run is cancelled or replaced.
  func leave(_ record: PhotoRecord) {
    guard let run = runs[record.run.number] else { return }
    let (position, attempts) = (record.entry.position, record.snapshot.attempts)
    // Its operations may keep the record until their queue goes on.
    let partial = record.takePartial()
    switch run.phase {
    case .cancelling(var cancelling):
      cancelling.attempts[position] = attempts
      run.phase = .cancelling(cancelling)
    case .replaced(var replaced):
      replaced.attempts[position] = attempts
      run.phase = .replaced(replaced)
      // The new run begins with the first mirror.
      if record.mirror == 0 { scheduler.keep(partial, of: record.id) }
    case .planning, .fetching, .ready, .running, .replacing, .finishing: break
    }
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

  /// The run that is being replaced by a run; nil for most.
  func predecessor(of number: Int) -> JobRun? {
    runs.values.first { if case .replaced(let replaced) = $0.phase { replaced.successor == number } else { false } }
  }
}
