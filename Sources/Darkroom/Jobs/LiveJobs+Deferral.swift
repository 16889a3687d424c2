import Ledger
import Scheduling
import System

/// Entries that are deferred.
extension LiveJobs {
  /// Has an entry whose failure may pass tried again later. The ledger knows of it from the next batch on; until then an
  /// entry is one that was not tried.
  func postpone(_ record: PhotoRecord, _ live: PhotoRecord.Live, wait: Int, now: Int) {
    let isFirst = scheduler.started(record.id)?.key.wasDeferred != true
    guard let deferred = scheduler.postpone(record.id, attempts: live.attempts, wait: wait, now: now) else { return }
    let deferral = LedgerDeferral(deferred, now: now, wallNow: Clock.wallMilliseconds)
    delivery.record([.postpone(deferral, run: record.run.runID)])
    restIfDeferred(record.run.number)
    guard let failure = live.failure else { return }
    observe(
      .entryDeferred(
        job: record.run.job, name: record.entry.shownName, attempts: live.attempts, seconds: Double(wait) / 1000,
        isFirst: isFirst, error: ReportRow.Failure(failure), deferred: scheduler.deferred(run: record.run.number).count)
    )
  }

  /// The live jobs, as far as it matters for what is to be done, in the order in which they became live.
  var live: [LiveJob] {
    let runs = inOrder
    lazy var firstNumbers = Dictionary(runs.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    /// Whether an earlier run of its job has not ended: they end in their order.
    func hasEarlierRun(_ run: JobRun) -> Bool { firstNumbers[run.name] != run.number }
    return runs.map { run in
      var job = run.live
      if job.phase == .running { job.activity = activity(of: run) }
      switch job.phase {
      case .ready, .running: job.file = run.file
      case .done where job.isFetching && pending.isInProgress(run: run.number): job.phase = .cancelling
      case .unrecorded where pending.isInProgress(run: run.number) || hasEarlierRun(run) && !run.leavesNothing:
        job.phase = .cancelling
      default: break
      }
      return job
    }
  }

  private func activity(of run: JobRun) -> LiveJob.Activity {
    if isDeferred(run) { return .deferred }
    return run.undelivered == 0 && scheduler.isIdle(run: run.number) ? .idle : .busy
  }

  /// Whether all entries of a run that are left are deferred, or wait for those that are.
  private func isDeferred(_ run: JobRun) -> Bool {
    let deferred = scheduler.deferred(run: run.number).count
    if case .fetching = run.phase { return deferred > 0 }
    guard deferred > 0, case .running(let running) = run.phase else { return false }
    return deferred + scheduler.waitingForOthers(run: run.number) >= running.plan.total - running.tally.counts.total
  }

  /// Closes the log of a run all of whose entries that are left are deferred: there may be very many such runs.
  func restIfDeferred(_ number: Int) {
    if let run = runs[number], isDeferred(run) { delivery.rest(run: number) }
  }
}
