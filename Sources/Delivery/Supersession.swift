import Ledger
import Model
import System

/// Ends a superseded run that has no running operations. An interrupted call can be repeated. Entries without rows are
/// only counted.
package struct Supersession {
  package let run: RunContext
  package let manifest: JobManifest

  /// The number of entries of the manifest.
  package let total: Int
  package let ledger: Ledger
  package let state: StateFolder

  /// Whether the log in the job's folder, if any, belongs to this run. Default: true.
  package var hasLog = true

  package init(
    run: RunContext, manifest: JobManifest, total: Int, ledger: Ledger, state: StateFolder, hasLog: Bool = true
  ) {
    self.run = run
    self.manifest = manifest
    self.total = total
    self.ledger = ledger
    self.state = state
    self.hasLog = hasLog
  }

  /// Writes the run's log to `history`. A run without rows is removed completely.
  /// - Returns: The counts of all entries of the run; empty without rows.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  package func record() throws -> JobTally {
    run.staging.removeFilesOfEntries()
    var tally = JobTally()
    let log = try run.staging.create(run.staging.document("entries.jsonl"))
    try ledger.eachEndedPage(run: run.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row), at: entry.position) }
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

  /// Removes the log in the job's folder.
  private func removeLog() throws(SystemError) {
    guard hasLog else { return }
    do throws(SystemError) {
      try run.folder.open().remove(Folder.name(of: run.folder.entriesLog))
    } catch  where error.cause == .missing {}
  }
}
