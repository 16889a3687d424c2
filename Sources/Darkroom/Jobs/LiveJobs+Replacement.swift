import Dispatch
import Ledger
import System

/// Runs whose manifests are replaced while they are live. The new manifest is planned beside the old run; if it is rejected
/// nothing changes. Otherwise nothing of the old run starts any more, both are compared, what is gone is cancelled, and the new
/// run begins with everything else. What was in progress and is unchanged ends in the old run, and its rows go over then.
extension LiveJobs {
  /// Has the planned manifest of a run take the place of a live one's.
  func replace(_ number: Int, by successor: Int) {
    guard let run = runs[number], let new = runs[successor], case .ready(var plan) = new.phase else { return }
    let running: JobRun.Running
    switch run.phase {
    case .ready(let plan):
      running = .init(plan: plan, tally: plan.tally, began: (activeTime, plan.tally.counts.total))
    case .running(let begun): running = begun
    case .planning, .cancelling, .replaced, .replacing, .finishing: return
    }
    let attempts = scheduler.stop(run: number, now: Clock.monotonicMilliseconds)
    let started = scheduler.startedEntries(run: number)
    run.phase = .replaced(.init(running: running, successor: successor, started: started, attempts: attempts))
    run.suspects = []
    for record in awaitingOutageCheck where record.id.run == number { leave(record) }
    awaitingOutageCheck.removeAll { $0.id.run == number }
    machineFailures = machineFailures.filter { $0.key.run != number }
    // Its log becomes the new run's.
    delivery.mute(run: number, in: running.plan.run.folder)
    // What it has asked for is known.
    plan.run.accepted = min(plan.run.accepted, running.plan.run.accepted)
    new.phase = .replacing(plan)
    new.replaces = nil
    compare(number)
  }

  /// Has the manifest of a replacement planned again whose predecessor is no longer to be replaced, once that has ended.
  func planSeparately(_ number: Int) {
    guard let run = runs[number], case .ready = run.phase, let job = run.accepted?.job else { return }
    remove(run)
    queue.retry(.unfinished(job))
  }

  /// Has the manifests of a run and of the one that replaces it compared.
  func compare(_ number: Int) {
    guard let run = runs[number], case .replaced(var replaced) = run.phase, !replaced.isUnderWay,
      case .replacing(let plan)? = runs[replaced.successor]?.phase
    else { return }
    replaced.isUnderWay = true
    run.phase = .replaced(replaced)
    let (replacement, started) = (replacement(of: replaced), replaced.started)
    DispatchQueue(label: "Comparison").async(group: background) { [send, stopFlag] in
      let result = Result { try replacement.compare(with: plan, started: started) { stopFlag.isSet } }
      send(.compared(run: number, result))
    }
  }

  private func replacement(of replaced: JobRun.Replaced) -> JobReplacement {
    let plan = replaced.running.plan
    return JobReplacement(old: plan.run, oldIndex: plan.index, ledger: planner.ledger, delivery: delivery)
  }

  /// Takes in what the comparison came to, and cancels what is gone.
  func compared(_ number: Int, _ result: Result<JobReplacement.Comparison, any Error>) throws {
    guard let run = runs[number], case .replaced(var replaced) = run.phase else { return }
    replaced.isUnderWay = false
    run.phase = .replaced(replaced)
    if case .failure(let error) = result, error is CancellationError { return }
    try withTrouble(about: run, isPlanning: false) {
      let comparison = try result.get()
      run.hold = nil
      replaced.comparison = comparison
      run.phase = .replaced(replaced)
      pending.cancel(run: number) { comparison.carried[$0] == nil }
      // Of these nothing has begun again meanwhile.
      observe(.jobReplaced(job: run.name, carried: comparison.tally.counts.total + comparison.carried.count))
    }
  }

  /// Begins with runs that replace others, once what is gone of these has ended: a result of theirs is not to take the place
  /// of a newer one.
  func beginReplacements(now: Double) {
    for run in runs.values {
      guard case .replaced(var replaced) = run.phase, let comparison = replaced.comparison, !replaced.hasBegun,
        run.undelivered == 0, !pending.isInProgress(run: run.number, where: { comparison.carried[$0] == nil }),
        let new = runs[replaced.successor], case .replacing(let plan) = new.phase
      else { continue }
      replaced.hasBegun = true
      run.phase = .replaced(replaced)
      let ended = comparison.tally.counts.total
      scheduler.add(
        run: new.number, plan.index, dependencies: comparison.dependencies, heldVariants: comparison.heldVariants)
      new.phase = .running(.init(plan: plan, tally: comparison.tally, began: (activeTime, ended)))
      (new.since, new.lastStarted) = (now, now)
      observe(.jobStarted(job: new.name, total: plan.total, ended: ended, deferred: 0))
    }
  }

  /// Has the rows of a run that was replaced settled: nothing of it is in progress any more.
  func settle(_ number: Int) {
    guard let run = runs[number], case .replaced(var replaced) = run.phase, !replaced.isUnderWay,
      let comparison = replaced.comparison, let new = runs[replaced.successor], let plan = new.plan
    else { return }
    var entries: [Int: Entry] = [:]
    do {
      for (position, place) in comparison.carried { entries[position] = try plan.index.entry(at: place) }
    } catch {
      return indexFailed(.init(run: new.number, cause: error))
    }
    replaced.isUnderWay = true
    run.phase = .replaced(replaced)
    let (replacement, attempts) = (replacement(of: replaced), replaced.attempts)
    DispatchQueue(label: "Comparison").async(group: background) { [send, stopFlag, entries] in
      let result = Result {
        try replacement.settle(entries, to: plan.run, attempts: attempts) { stopFlag.isSet }
      }
      send(.settled(run: number, result))
    }
  }

  /// Takes in what became of a run that was replaced: its report goes to `history`.
  func settled(_ number: Int, _ result: Result<JobReplacement.Settlement, any Error>) throws {
    guard let run = runs[number], case .replaced(var replaced) = run.phase else { return }
    replaced.isUnderWay = false
    run.phase = .replaced(replaced)
    if case .failure(let error) = result, error is CancellationError { return }
    try withTrouble(about: run, isPlanning: false) {
      let settlement = try result.get()
      run.hold = nil
      var plan = replaced.running.plan
      plan.run = plan.run.inHistory
      let outcome = JobOutcome(
        settlement.tally, scheduler.transfers(run: number), at: Clock.wallMilliseconds, taking: elapsed(run)
      ).superseded
      scheduler.remove(run: number)
      run.phase = .finishing(.init(plan: plan, outcome: outcome))
      guard let new = runs[replaced.successor] else { return }
      undelivered += settlement.rows.count
      new.undelivered += settlement.rows.count
      delivery.log(carried: settlement.rows)
      try start(settlement.open, of: new)
    }
  }

  /// Has entries start that have been left to a run that was replaced.
  private func start(_ positions: some Collection<Int>, of run: JobRun) throws {
    guard case .running = run.phase else { return }
    do throws(EntryScheduler.IndexError) {
      for position in positions {
        try scheduler.admit(position, of: run.number, now: Clock.monotonicMilliseconds)
      }
    } catch {
      indexFailed(error)
    }
  }

  /// A run that was replaced goes without having been settled: the one that replaces it does what was left to it.
  func abandonReplacement(_ run: JobRun) {
    guard case .replaced(let replaced) = run.phase, let new = runs[replaced.successor] else { return }
    if let comparison = replaced.comparison, replaced.hasBegun {
      try? start(comparison.carried.values, of: new)
    } else if let job = new.accepted?.job {
      runs[new.number] = nil
      queue.retry(.unfinished(job))
    }
  }

  /// Records how often an entry was tried of which there is no row yet, because its run is cancelled or replaced.
  func leave(_ record: PhotoRecord) {
    guard let run = runs[record.run.number] else { return }
    let (position, attempts) = (record.entry.position, record.snapshot.attempts)
    switch run.phase {
    case .cancelling(var cancelling):
      cancelling.attempts[position] = attempts
      run.phase = .cancelling(cancelling)
    case .replaced(var replaced):
      replaced.attempts[position] = attempts
      run.phase = .replaced(replaced)
    case .planning, .ready, .running, .replacing, .finishing: break
    }
  }

  /// Has files that were dealt with looked at again, because the inbox was away; those of live runs are not new for that.
  func inboxReturned() {
    queue.inboxReturned()
    for run in runs.values {
      guard let manifest = run.accepted?.manifest, manifest.inboxPath != nil else { continue }
      queue.pass(manifest.file, identity: manifest.identity)
    }
  }

  /// The run that is being replaced by a run; nil for most.
  func predecessor(of number: Int) -> JobRun? {
    runs.values.first { if case .replaced(let replaced) = $0.phase { replaced.successor == number } else { false } }
  }
}
