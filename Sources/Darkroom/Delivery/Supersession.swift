import Ledger
import System

/// Ends a run that a later one has superseded, and of which nothing runs any more. It may be done again when it was
/// interrupted. What has no row is counted, and gets none.
struct Supersession {
  let run: RunContext
  let manifest: JobManifest

  /// How many entries the manifest has.
  let total: Int
  let ledger: Ledger
  let state: StateFolder

  /// Whether the log beside the job's results is this run's, if there is one. Default: it is.
  var hasLog = true

  /// Writes the run's log to `history`. A run without rows leaves nothing.
  /// - Returns: What all entries of the run add up to; nothing without rows.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  func record() throws -> JobTally {
    run.staging.removeFilesOfEntries()
    var tally = JobTally()
    let log = try run.staging.create(run.staging.document("entries.jsonl"))
    try ledger.eachEndedPage(run: run.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row)) }
      try log.write(page.map { $0.row + "\n" }.joined())
    }
    guard tally.counts.total > 0 else {
      run.staging.remove(Folder.name(of: log.path))
      try ledger.commit([.remove(run.runID)])
      state.remove(run.runID, extension: manifest.fileExtension, hasList: true)
      try removeLog()
      return tally
    }
    tally.addCancelled(total - tally.counts.total)
    let folder = run.inHistory.folder
    try run.staging.open().rename(
      Folder.name(of: log.path), to: folder.createDurably(), as: Folder.name(of: folder.entriesLog))
    try removeLog()
    return tally
  }

  /// Removes the log beside the job's results.
  private func removeLog() throws(SystemError) {
    guard hasLog else { return }
    do throws(SystemError) {
      try run.folder.open().remove(Folder.name(of: run.folder.entriesLog))
    } catch  where error.cause == .missing {}
  }
}
