import Ledger
import Manifests
import Scheduling
import System
import Transfer

/// Jobs whose entries are listed elsewhere. Their source is downloaded as that of an entry is, by the same queue and with the
/// same retries, pauses and limits; then they are planned again, and go on as others.
extension LiveJobs {
  /// Begins to download the source of a job.
  func begin(_ fetching: JobRun.Fetching, of run: JobRun, now: Double) {
    var fetching = fetching
    guard !fetching.hasBegun, fetching.end == nil, let source = fetching.plan.source else { return }
    let same = replacedRun(of: run, fetching: source)
    let deferral = fetching.plan.deferred.isEmpty ? same.flatMap(deferredSource)?.moved(to: source.position) : nil
    scheduler.add(
      run: run.number, fetching.plan.index, deferred: fetching.plan.deferred + (deferral.map { [$0] } ?? []),
      transfers: run.sourceTransfers)
    if let same { scheduler.handOverTries(of: source.position, from: same.number, to: run.number) }
    if let deferral {
      scheduler.passUpcoming(run: run.number)
      let recorded = LedgerDeferral(deferral, now: Clock.monotonicMilliseconds, wallNow: Clock.wallMilliseconds)
      delivery.record([.postpone(recorded, run: fetching.plan.run.runID)])
    }
    fetching.plan.deferred = []
    fetching.hasBegun = true
    run.phase = .fetching(fetching)
    (run.since, run.lastStarted) = (now, now)
    observe(.jobFetching(job: run.name, url: SourceLocation.redacted(source.urls[0])))
  }

  /// The run that a run is to replace, if that downloads the same source: what is known of that holds for both.
  private func replacedRun(of run: JobRun, fetching source: Entry) -> JobRun? {
    guard let old = run.replaces.flatMap({ runs[$0] }), case .fetching(let fetching) = old.phase,
      fetching.plan.source.map(source.asksForTheSame) == true
    else { return nil }
    return old
  }

  /// When the source of a run is asked again; nil when it is not deferred.
  private func deferredSource(of run: JobRun) -> DeferredEntry? {
    guard case .fetching(let fetching) = run.phase else { return nil }
    return fetching.hasBegun
      ? scheduler.waiting(run: run.number).deferred.values.first : fetching.plan.deferred.first
  }

  /// Takes in that the operations of a run's source have ended for good: the run is planned with what it has listed, or
  /// rejected.
  /// - Returns: Whether the record is that of a run's source, and no entry's.
  func fetchingEnded(_ record: PhotoRecord) -> Bool {
    guard let run = runs[record.run.number], case .fetching(let fetching) = run.phase else { return false }
    scheduler.finished(record.id, now: Clock.monotonicMilliseconds)
    clearFailures(of: record)
    guard fetching.end == nil, let job = run.accepted?.job else { return true }
    let live = record.snapshot
    switch (live.state, live.source, live.failure) {
    case (.downloaded, let source?, _):
      forgetSource(of: run)
      let fetched = JobPlanner.Fetched(url: record.url, source: source)
      run.known.fetched = fetched
      planAgain(run, job, fetched: fetched)
    case (.failed, _, let failure?):
      forgetSource(of: run)
      rejectSource(of: run, fetching.plan, failure, attempts: live.attempts)
    default: break
    }
    return true
  }

  /// Has a run end whose source cannot be read.
  /// - Parameter attempts: How often that was tried. Default: once.
  func rejectSource(of run: JobRun, _ plan: Plan, _ failure: EntryFailure, attempts: Int = 1) {
    reject(run, plan, JobOutcome(sourceFailed: failure, attempts: attempts, run.sourceTransfers, taking: elapsed(run)))
  }

  /// Has nothing more asked for of a run's source: what was is kept in mind.
  func forgetSource(of run: JobRun) {
    run.sourceTransfers = scheduler.transfers(run: run.number)
    scheduler.remove(run: run.number)
  }

  /// Has a run end whose source is not wanted any more. What runs of it ends first.
  /// - Parameter end: What the run comes to.
  func stopFetching(_ run: JobRun, as end: JobOutcome.State) {
    guard case .fetching(var fetching) = run.phase, fetching.end == nil else { return }
    fetching.end = end
    run.phase = .fetching(fetching)
    scheduler.stop(run: run.number, now: Clock.monotonicMilliseconds)
    machineFailures = machineFailures.filter { $0.key.run != run.number }
    scheduler.dropPartials(run: run.number)
    pending.cancel(run: run.number)
  }

  /// Has the report of such a run written, once nothing of it runs: there are no rows, because nobody knows its entries.
  func finish(_ fetching: JobRun.Fetching, of run: JobRun) {
    guard let end = fetching.end, !pending.isInProgress(run: run.number) else { return }
    forgetSource(of: run)
    var plan = fetching.plan
    if end == .superseded { plan.run = plan.run.inHistory }
    let outcome = JobOutcome(ended: end, run.sourceTransfers, taking: elapsed(run))
    run.phase = .finishing(
      .init(plan: plan, outcome: outcome, hasPredecessor: end != .superseded && run.replaces != nil))
  }
}

extension JobOutcome {
  /// The outcome of a job whose source could not be downloaded.
  fileprivate init(
    sourceFailed failure: EntryFailure, attempts: Int, _ transfers: Transfers, taking elapsed: RunTime.Elapsed?
  ) {
    let tries = attempts > 1 ? ", after \(attempts) tries" : ""
    let problem = Problem(
      code: ManifestProblem.Code.sourceFailed.rawValue,
      message: "the source cannot be read: \(failure.code.text): \(failure.message)\(tries)", place: "source",
      failure: SourceFailure(
        stage: failure.code.stage.rawValue, code: failure.code.text, message: failure.message,
        httpStatus: failure.httpStatus, isRetryable: failure.isRetryable))
    self.init(
      state: .rejected, counts: Counts(), bytes: Bytes(), transfers: transfers, problems: [problem],
      finished: Clock.wallMilliseconds, elapsed: elapsed)
  }

  /// The outcome of a job whose source was not wanted any more.
  fileprivate init(ended state: State, _ transfers: Transfers, taking elapsed: RunTime.Elapsed?) {
    self.init(
      state: state, counts: Counts(), bytes: Bytes(), transfers: transfers, problems: [],
      finished: Clock.wallMilliseconds, elapsed: elapsed)
  }
}
