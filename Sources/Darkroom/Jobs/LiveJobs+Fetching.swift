import Ledger
import Manifests
import Scheduling
import System
import Transfer

/// Jobs whose entries are listed elsewhere. Their source is downloaded as that of an entry is, by the same queue and with the
/// same retries, pauses and limits; then they are planned again, and go on as others.
extension LiveJobs {
  /// Begins to download the source of a job.
  func fetch(_ source: Entry, _ plan: Plan, of run: JobRun, now: Double) {
    let entries = RunEntries(plan, activeTime: activeTime, now: now, hosts: run.sourceHosts)
    flow.add(run.number, entries, transfers: run.sourceTransfers)
    run.phase = .planning(.list(entries))
    run.since = now
    observe(.jobFetching(job: run.name, url: SourceLocation.redacted(source.urls[0])))
  }

  /// Handles sources whose operations have ended for good: their runs are planned with what was listed, or rejected.
  func endSources() {
    for record in flow.takeEndedSources() {
      guard let run = runs[record.run.number], case .planning(.list(let entries)) = run.phase,
        let job = run.accepted?.job
      else { continue }
      let live = record.snapshot
      switch (live.source, live.failure) {
      case (let source?, nil):
        forgetSource(of: run)
        let fetched = JobPlanner.Fetched(url: record.url, source: source)
        run.known.fetched = fetched
        planAgain(run, job, fetched: fetched)
      case (let list?, let failure?) where failure.disposition == .waitForSpace:
        forgetSource(of: run)
        hold(run, listOf: list.bytes, failure)
      case (_, let failure?):
        forgetSource(of: run)
        rejectSource(of: run, entries.plan, failure, attempts: live.attempts)
      case (nil, nil): break
      }
    }
  }

  /// Has a run end whose source cannot be read.
  /// - Parameter attempts: How often that was tried. Default: once.
  func rejectSource(of run: JobRun, _ plan: Plan, _ failure: EntryFailure, attempts: Int = 1) {
    reject(run, plan, JobOutcome(sourceFailed: failure, attempts: attempts, run.sourceTransfers, taking: elapsed(run)))
  }

  /// Has nothing more asked for of a run's source: what was is kept in mind.
  func forgetSource(of run: JobRun) {
    run.sourceTransfers = scheduler.transfers(run: run.number)
    if let hosts = run.entries?.hosts { run.sourceHosts = hosts }
    flow.remove(run.number)
  }

  /// Writes the report of a run whose source is not wanted any more: there are no rows, because nobody knows its entries.
  func reportCancelledSource(_ run: JobRun, _ plan: Plan) {
    forgetSource(of: run)
    let outcome = JobOutcome(cancelled: run.sourceTransfers, taking: elapsed(run))
    run.phase = .reporting(.init(plan: plan, outcome: outcome, hasPredecessor: run.replaces != nil))
    finish(run.number)
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
  fileprivate init(cancelled transfers: Transfers, taking elapsed: RunTime.Elapsed?) {
    self.init(
      state: .cancelled, counts: Counts(), bytes: Bytes(), transfers: transfers, problems: [],
      finished: Clock.wallMilliseconds, elapsed: elapsed)
  }
}
