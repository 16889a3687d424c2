import Database

/// Which names were derived in the runs of a job.
extension Ledger {
  /// The run whose names count for a run of a job: itself, when its own are recorded, else the job's last; nil when none
  /// are known.
  package func namedRun(for runID: String, job: String) throws -> LedgerNamedRun? {
    let clause = "WHERE job = ? ORDER BY run_id = ? DESC, number DESC LIMIT 1"
    let runs: [LedgerNamedRun] = try perform {
      try $0.intactRecords(of: .namedRuns, clause, [.text(job), .text(runID)])
    }
    return runs.first
  }

  /// Whether all pages of a run's names are there: after damage some may be missing.
  package func hasAllNames(of run: LedgerNamedRun) throws -> Bool {
    try perform { database in
      let values = [SQLiteValue.text(run.runID), .integer(run.pages)]
      return try database.first("SELECT count(*) FROM names WHERE run_id = ? AND page < ?", values) { $0.integer(0) }
        == run.pages
    }
  }

  /// Calls `body` with the names of a run, in the manifest's order. Others use the ledger in between.
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

  /// So many pages are read at once.
  private static let namesAtOnce = 8
}
