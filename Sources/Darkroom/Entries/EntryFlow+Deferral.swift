import Delivery
import Ledger
import Model
import Scheduling
import System

/// Entries that are deferred.
extension EntryFlow {
  /// Defers an entry whose failure may pass. The ledger knows of it from the next batch on; until then an
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

  /// What becomes of the entries of a run.
  func activity(of run: Int, _ entries: RunEntries) -> RunEntries.Activity {
    if isDeferred(run, entries) { return .deferred }
    return entries.undelivered == 0 && scheduler.isIdle(run: run) ? .idle : .busy
  }

  /// Whether all entries of a run that are left are deferred, or wait for those that are.
  private func isDeferred(_ run: Int, _ entries: RunEntries) -> Bool {
    let deferred = scheduler.deferred(run: run).count
    guard deferred > 0 else { return false }
    return entries.isSource || deferred + scheduler.waitingForOthers(run: run) >= entries.left
  }

  /// Closes the log of a run all of whose entries that are left are deferred: there may be very many such runs.
  func restIfDeferred(_ run: Int) {
    if let entries = runs[run], !entries.isClosing, isDeferred(run, entries) { delivery.rest(run: run) }
  }
}

extension LedgerDeferral {
  /// What the ledger gets to know of a deferred entry.
  /// - Parameters:
  ///   - now: What the clock says of which the entry's times are, in milliseconds.
  ///   - wallNow: What the system's clock says, in milliseconds since 1970.
  init(_ entry: DeferredEntry, now: Int, wallNow: Int) {
    let wait = max(0, entry.due - now)
    self.init(
      position: entry.position, attempts: entry.attempts, due: wallNow + wait, wait: wait,
      firstTried: wallNow - (now - entry.firstTried))
  }
}
