import Delivery
import Ledger
import Model
import Scheduling
import System

/// Deferred entries.
extension EntryFlow {
  /// Defers an entry with a retryable failure. The ledger records that with the next batch; if the process ends
  /// earlier, the entry counts as not tried.
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

  /// The activity of a run.
  func activity(of run: Int, _ entries: RunEntries) -> RunEntries.Activity {
    if isDeferred(run, entries) { return .resting }
    guard entries.undelivered == 0, scheduler.isIdle(run: run) else { return .busy }
    let isHeld = scheduler.isHeld(run: run, for: JobLimits.idleTime, now: Clock.monotonicMilliseconds)
    return isHeld ? .resting : .idle
  }

  /// Whether all remaining entries of a run are deferred, or wait for deferred ones.
  private func isDeferred(_ run: Int, _ entries: RunEntries) -> Bool {
    let deferred = scheduler.deferred(run: run).count
    guard deferred > 0 else { return false }
    return entries.isSource || deferred + scheduler.waitingForOthers(run: run) >= entries.left
  }

  /// Closes the log of a run whose remaining entries are all deferred, since there may be many such runs.
  func restIfDeferred(_ run: Int) {
    if let entries = runs[run], !entries.isClosing, isDeferred(run, entries) { delivery.rest(run: run) }
  }
}

extension LedgerDeferral {
  /// The record of a deferred entry for the ledger.
  /// - Parameters:
  ///   - now: The time of the clock that the entry uses, in milliseconds.
  ///   - wallNow: The time of the system's clock, in milliseconds since 1970.
  init(_ entry: DeferredEntry, now: Int, wallNow: Int) {
    let wait = max(0, entry.due - now)
    self.init(
      position: entry.position, attempts: entry.attempts, due: wallNow + wait, wait: wait,
      firstTried: wallNow - (now - entry.firstTried))
  }
}
