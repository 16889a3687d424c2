import Delivery
import JobIndex
import Ledger
import Model

/// Writes the rows of the remaining entries of a cancelled run, on a separate thread, since there may be many.
///
/// Each page is one commit. Entries that have a row keep it, so an interrupted call can be repeated.
struct JobCancellation: @unchecked Sendable {  // the index has one owner at a time
  let run: RunContext
  let index: JobIndex
  let ledger: Ledger
  let delivery: DeliveryQueue

  /// The numbers of tries of the entries, by position.
  let attempts: [Int: Int]

  /// The changes that record its names, if it had not begun.
  var names: [LedgerChange] = []

  /// Called with the rows of each page when they are durable. Default: does nothing.
  var written: ([ReportRow]) -> Void = { _ in }

  /// - Parameter isStopping: Whether to stop. The next start then writes the rest.
  /// - Returns: The counts of all rows of the run.
  /// - Throws: `SQLiteError`, `LedgerError`; `CancellationError` when it was stopped.
  func write(isStopping: () -> Bool) throws -> JobTally {
    var tally = JobTally()
    try ledger.eachEndedPage(run: run.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row), at: entry.position) }
      try index.fill { for entry in page { try index.markEnded(entry.position) } }
    }
    run.staging.removeFilesOfEntries()
    // Marks a run that had not begun as running, so that the next start does not take it for a new one.
    var changes = names + [LedgerChange.advance(run.runID, to: .running)]
    try index.eachUnendedPage { page in
      if isStopping() { throw CancellationError() }
      let rows = page.map(row)
      try ledger.commit(changes + rows.map { .finish($0.record.ledgerEntry($0.row), run: run.runID, job: run.job) })
      changes = []
      for row in rows { tally.add(row.row, at: row.record.entry.position) }
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
