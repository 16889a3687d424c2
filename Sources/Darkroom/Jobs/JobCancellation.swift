import Delivery
import JobIndex
import Ledger
import Model
import System

/// Writes the rows of what was not done of a cancelled run, on a thread of its own: there may be very many.
///
/// Each page is one commit. What has a row keeps it, so it can be done again when it was interrupted.
struct JobCancellation: @unchecked Sendable {  // the index has one owner at a time
  let run: RunContext
  let index: JobIndex
  let ledger: Ledger
  let delivery: DeliveryQueue

  /// How often those of its entries were tried that were begun, by position.
  let attempts: [Int: Int]

  /// What records its names, if it had not begun.
  var names: [LedgerChange] = []

  /// Called with the rows of each page when they are durable. Default: nobody wants to know.
  var written: ([ReportRow]) -> Void = { _ in }

  /// - Parameter isStopping: Whether to stop soon; the next start does the rest.
  /// - Returns: What all rows of the run add up to.
  /// - Throws: `SQLiteError`, `LedgerError`; `CancellationError` when it was stopped.
  func write(isStopping: () -> Bool) throws -> JobTally {
    var tally = JobTally()
    try ledger.eachEndedPage(run: run.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row)) }
      try index.fill { for entry in page { try index.markEnded(entry.position) } }
    }
    run.staging.removeFilesOfEntries()
    // A run that had not begun is not taken for a new one by the next start.
    var changes = names + [LedgerChange.advance(run.runID, to: .running)]
    try index.eachUnendedPage { page in
      if isStopping() { throw CancellationError() }
      let rows = page.map(row)
      try ledger.commit(changes + rows.map { .finish($0.record.ledgerEntry($0.row), run: run.runID, job: run.job) })
      changes = []
      for row in rows { tally.add(row.row) }
      written(rows.map(\.row))
      try delivery.log(rows)
    }
    return tally
  }

  private func row(of entry: Entry) -> DeliveryQueue.Committed {
    let record = PhotoRecord(entry, run: run, attempts: attempts[entry.position] ?? 0)
    record.cancel()
    let row = record.row()
    return DeliveryQueue.Committed(record: record, row: row, text: row.json.text)
  }
}
