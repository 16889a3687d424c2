import Ledger
import Model
import System

/// The ledger of the outbox while the results of a job's shards are merged: it tells what failed in the job's last run, and learns
/// what the shards have delivered, so that the next run reuses and replaces it.
package struct MergedResults {
  /// What a missing or damaged ledger was made from, a message; nil when the ledger was there, or is new.
  package let notice: String?

  /// The run with which the merged one is compared; nil without one.
  package let lastRun: String?

  private let opening: LedgerOpening
  private let rebuild: LedgerRebuild
  private let job: JobFolder
  private let hasFailures: Bool

  /// Opens the ledger as at a start.
  /// - Parameters:
  ///   - state: The state folder, which the caller owns.
  ///   - wasUsed: Whether it was used with the outbox before.
  /// - Throws: `StopError.outbox`, `SQLiteError`, `LedgerError`, `SystemError`.
  package init(of job: JobFolder, in outbox: OutboxFolder, _ state: StateFolder, wasUsed: Bool) throws {
    opening = LedgerOpening(state: state, outbox: outbox, wasUsed: wasUsed)
    let ledger: Ledger
    (ledger, notice) = try opening.open()
    lastRun = try ledger.lastRun(job: job.name)
    hasFailures = try lastRun.map(ledger.hasFailures) ?? false
    // Damage is found before a row is written.
    if hasFailures, let lastRun { try ledger.eachFailurePage(run: lastRun) { _ in } }
    rebuild = LedgerRebuild(state: state, outbox: outbox, ledger: ledger)
    self.job = job
  }

  /// The failure of a row in the last run; nil when it did not fail.
  /// - Parameter name: The name of its result.
  /// - Throws: `SQLiteError`, `LedgerError`.
  package func lastFailure(_ name: String) throws -> LedgerFailure? {
    guard hasFailures, let lastRun else { return nil }
    return try rebuild.ledger.failure(name, run: lastRun)
  }

  /// Records the results. What the ledger knows of files that have not changed since stays.
  /// - Parameter rows: Opens the rows of the report.
  /// - Throws: `SQLiteError`, `LedgerError`, `SystemError`.
  package func record(_ head: ReportHead, rows: () throws -> OpenFile) throws {
    try rebuild.adopt(head, rows: rows, of: job)
  }

  /// Records that the ledger was closed in order. Call it unless reading or writing has failed: it is then checked at the next start.
  package func close() { opening.close() }
}
