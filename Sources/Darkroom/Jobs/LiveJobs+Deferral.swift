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
    let wall = Clock.wallMilliseconds
    let deferral = LedgerDeferral(
      position: record.entry.position, attempts: live.attempts, due: wall + wait, wait: wait,
      firstTried: wall - (now - deferred.firstTried))
    delivery.record([.postpone(deferral, run: record.run.runID)])
    guard let failure = live.failure else { return }
    observe(
      .entryDeferred(
        job: record.run.job, name: record.entry.shownName, attempts: live.attempts, seconds: Double(wait) / 1000,
        isFirst: isFirst, error: ReportRow.Failure(failure), deferred: scheduler.deferred(run: record.run.number).count)
    )
  }
}
