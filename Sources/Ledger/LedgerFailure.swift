import Database

/// A failed row, with which the job's next run compares itself. Only those of a job's last run are kept, so the table is bounded
/// by what fails in one run.
package struct LedgerFailure: Sendable, Equatable, DatabaseRecord {
  /// The output's path beneath `images/`, without extension: it identifies the row within its job.
  package let name: String

  /// When it first failed without having succeeded since: RFC 3339, UTC, with milliseconds.
  package let firstSeen: String

  /// How many runs in a row it has failed, including this one; at least 1.
  package let runs: Int

  /// The last error code.
  package let code: String

  package init(name: String, firstSeen: String, runs: Int, code: String) {
    self.name = name
    self.firstSeen = firstSeen
    self.runs = runs
    self.code = code
  }

  package static let columns: Columns = ["name", "first_seen", "runs", "code"]

  package init(_ row: Statement) {
    self.init(name: row.text(0) ?? "", firstSeen: row.text(1) ?? "", runs: row.integer(2), code: row.text(3) ?? "")
  }

  package var values: [SQLiteValue] { [.text(name), .text(firstSeen), .integer(runs), .text(code)] }

  /// Records a failure of a run that has not ended.
  func put(run runID: String, _ database: Database) throws {
    try database.run(LedgerTable.failures.put, [.text(runID)] + values)
  }

  /// Makes a run the last of its job: its failures are kept, those of the previous one are removed.
  static func remember(_ runID: String, job: String, _ database: Database) throws {
    try database.run(
      "DELETE FROM failures WHERE run_id = (SELECT run_id FROM last_runs WHERE job = ? AND run_id != ?)",
      [.text(job), .text(runID)])
    try database.run(LedgerTable.lastRuns.put, [.text(job), .text(runID)])
  }

  /// Removes the failures of a run that has ended, unless it is the last of its job.
  static func forget(_ runID: String, _ database: Database) throws {
    try database.run(
      """
      DELETE FROM failures WHERE run_id = ?1 AND NOT EXISTS (
        SELECT 1 FROM last_runs JOIN jobs ON last_runs.job = jobs.name
        WHERE jobs.run_id = ?1 AND last_runs.run_id = ?1)
      """, [.text(runID)])
  }
}
