import Database

/// A page of the derived names of a run, in the order of the manifest, for the next run of its job. Pages are written with the
/// commit that begins the run; a row for each name would cost 6 µs.
package struct LedgerNames: Sendable, Equatable, DatabaseRecord {
  /// Its number, from 0.
  package let page: Int

  /// The names, each with a key that identifies its request (JSON, the caller's).
  package let text: String

  package init(page: Int, text: String) { (self.page, self.text) = (page, text) }

  package static let columns: Columns = ["page", "names"]

  package init(_ row: Statement) { self.init(page: row.integer(0), text: row.text(1) ?? "") }

  package var values: [SQLiteValue] { [.integer(page), .text(text)] }
}

/// A run with recorded derived names.
package struct LedgerNamedRun: Sendable, Equatable {
  package let runID: String

  /// The largest number of a job is that of its last run.
  let number: Int

  /// The number of pages of names; 0: none are known, because an earlier version made the run.
  package let pages: Int
}

extension LedgerNamedRun: DatabaseRecord {
  package static let columns: Columns = ["run_id", "number", "pages"]

  package init(_ row: Statement) { self.init(runID: row.text(0) ?? "", number: row.integer(1), pages: row.integer(2)) }

  package var values: [SQLiteValue] { [.text(runID), .integer(number), .integer(pages)] }
}

extension LedgerNamedRun {
  /// True for a row that belongs to a run of job ?1 that has not ended.
  private static let isLive = "run_id IN (SELECT run_id FROM jobs WHERE name = ?1 AND state != 'ended')"

  /// Makes the names of a run, all pages of which are recorded, those of its job's last run. The names of earlier ended runs
  /// are removed.
  static func put(_ runID: String, job: String, pages: Int, _ database: Database) throws {
    let values = [SQLiteValue.text(job), .text(runID)]
    var (number, last, hasOthers) = (nil as Int?, 0, false)
    try database.run("SELECT run_id, number FROM named_runs WHERE job = ?1", [.text(job)]) { row in
      last = max(last, row.integer(1))
      if row.text(0) == runID { number = row.integer(1) } else { hasOthers = true }
    }
    // Most jobs have one run.
    if hasOthers {
      let earlier = "FROM named_runs WHERE job = ?1 AND run_id != ?2 AND NOT \(isLive)"
      try database.run("DELETE FROM names WHERE run_id IN (SELECT run_id \(earlier))", values)
      try database.run("DELETE \(earlier)", values)
    }
    // A run that is recorded again keeps its number.
    let run = LedgerNamedRun(runID: runID, number: number ?? last + 1, pages: pages)
    try database.run(LedgerTable.namedRuns.put, [.text(job)] + run.values)
  }

  /// Removes the names of a run that has ended, or is removed, unless they are those of its job's last run.
  static func forgetEarlier(_ runID: String, _ database: Database) throws {
    let run = "run_id = ?1 AND job = (SELECT name FROM jobs WHERE run_id = ?1)"
    let later = """
      SELECT 1 FROM named_runs AS later WHERE later.job = named_runs.job AND later.number > named_runs.number
      """
    let isLast = try database.first(
      "SELECT 1 FROM named_runs WHERE \(run) AND NOT EXISTS (\(later))", [.text(runID)]
    ) { _ in true }
    if isLast == true { return }
    try database.run("DELETE FROM named_runs WHERE \(run)", [.text(runID)])
    try database.run("DELETE FROM names WHERE run_id = ?1", [.text(runID)])
  }

  /// Removes the names of a job's last run, unless a run of the job is live.
  static func forget(_ runID: String, job: String, _ database: Database) throws {
    try database.run(
      """
      DELETE FROM named_runs WHERE job = ?1 AND run_id = ?2 AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE name = ?1 AND state != 'ended')
      """, [.text(job), .text(runID)])
    if database.changes > 0 { try database.run("DELETE FROM names WHERE run_id = ?1", [.text(runID)]) }
  }

  /// Removes pages that belong to no run: after damage, the rows that refer to them may be missing.
  static func removeOrphans(_ database: Database) throws {
    try database.run("DELETE FROM names WHERE run_id NOT IN (SELECT run_id FROM named_runs)")
  }
}

/// The names that were derived in the runs of a job.
extension Ledger {
  /// The run whose names apply to a run of a job: the run itself, when its own are recorded, else the job's last; nil when none
  /// are known.
  package func namedRun(for runID: String, job: String) throws -> LedgerNamedRun? {
    let clause = "WHERE job = ? ORDER BY run_id = ? DESC, number DESC LIMIT 1"
    let runs: [LedgerNamedRun] = try perform {
      try $0.intactRecords(of: .namedRuns, clause, [.text(job), .text(runID)])
    }
    return runs.first
  }

  /// Whether all pages of a run's names exist: after damage some may be missing.
  package func hasAllNames(of run: LedgerNamedRun) throws -> Bool {
    try perform { database in
      let values = [SQLiteValue.text(run.runID), .integer(run.pages)]
      return try database.first("SELECT count(*) FROM names WHERE run_id = ? AND page < ?", values) { $0.integer(0) }
        == run.pages
    }
  }

  /// Calls `body` with the names of a run, in the manifest's order. Others can use the ledger in between.
  package func eachNamesPage(of run: LedgerNamedRun, _ body: (LedgerNames) throws -> Void) throws {
    let clause = "WHERE run_id = ? AND page BETWEEN ? AND ? ORDER BY page"
    for first in stride(from: 0, to: run.pages, by: Self.namesAtOnce) {
      let last = min(first + Self.namesAtOnce, run.pages) - 1
      let pages: [LedgerNames] = try perform {
        try $0.intactRecords(of: .names, clause, [.text(run.runID), .integer(first), .integer(last)])
      }
      for page in pages { try body(page) }
    }
  }

  /// The number of pages that are read at once.
  private static let namesAtOnce = 8
}
