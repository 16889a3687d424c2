import Database

/// The contents of the ledger, page by page, for retention; and free pages.
extension Ledger {
  /// The number of remembered runs that have ended.
  package func endedRunCount() throws -> Int {
    try perform { try $0.first("SELECT count(*) FROM jobs WHERE state = 'ended'") { $0.integer(0) } ?? 0 }
  }

  /// Runs that have ended, in order of acceptance.
  /// - Parameter sequence: That of the last run before the page; 0 for the first page.
  package func endedRuns(after sequence: Int, limit: Int) throws -> [(sequence: Int, runID: String, details: String)] {
    try page(
      "SELECT sequence, run_id, details FROM jobs WHERE state = 'ended' AND sequence > ? ORDER BY sequence LIMIT ?",
      [.integer(sequence), .integer(limit)]
    ) { ($0.integer(0), $0.text(1) ?? "", $0.text(2) ?? "") }
  }

  /// The files that jobs have delivered.
  /// - Parameters:
  ///   - job: With `target`, the last one before the page; empty for the first page.
  package func outputs(
    after job: String, _ target: String, limit: Int
  ) throws -> [(job: String, target: String, identity: String?)] {
    try page(
      "SELECT job, target, identity FROM outputs WHERE (job, target) > (?, ?) ORDER BY job, target LIMIT ?",
      [.text(job), .text(target), .integer(limit)]
    ) { ($0.text(0) ?? "", $0.text(1) ?? "", $0.text(2)) }
  }

  /// The runs with which the next ones of their jobs are compared, and those whose names they use: often one for a job, and more
  /// while several of its runs are live.
  /// - Parameters:
  ///   - job: With `run`, the last one before the page; empty for the first page.
  package func lastRuns(after job: String, _ run: String, limit: Int) throws -> [(job: String, run: String)] {
    try page(
      """
      SELECT * FROM (
        SELECT job, run_id FROM last_runs WHERE (job, run_id) > (?1, ?2) ORDER BY job, run_id LIMIT ?3) UNION
      SELECT * FROM (
        SELECT job, run_id FROM named_runs WHERE (job, run_id) > (?1, ?2) ORDER BY job, run_id LIMIT ?3)
      ORDER BY job, run_id LIMIT ?3
      """, [.text(job), .text(run), .integer(limit)]
    ) { ($0.text(0) ?? "", $0.text(1) ?? "") }
  }

  /// Removes entries of runs that have ended, up to a number of one run. Others can use the ledger between two calls.
  /// - Returns: Whether there were any.
  package func removeEndedEntries(_ count: Int) throws -> Bool {
    try perform { database in
      let run = try database.first("SELECT run_id FROM jobs WHERE state = 'ended' AND \(LedgerEntry.exists) LIMIT 1") {
        $0.text(0) ?? ""
      }
      guard let run else { return false }
      try database.transaction { try LedgerEntry.remove(count, ofEnded: run, database) }
      return true
    }
  }

  private func page<T>(_ query: String, _ values: [SQLiteValue], _ row: (Statement) -> T) throws -> [T] {
    try perform { try $0.all(query, values, row: row) }
  }

  /// The pages of the file.
  package struct Pages: Equatable {
    package var free = 0
    package var total = 0

    /// The size of a page. It is smaller in files of earlier versions.
    package var bytes = 0

    package init() {}
  }

  package func pages() throws -> Pages {
    try perform { database in
      var pages = Pages()
      pages.free = try database.first("PRAGMA freelist_count") { $0.integer(0) } ?? 0
      pages.total = try database.first("PRAGMA page_count") { $0.integer(0) } ?? 0
      pages.bytes = try database.first("PRAGMA page_size") { $0.integer(0) } ?? 0
      return pages
    }
  }

  /// Shrinks the file by at most so many free pages. Others can use the ledger between two calls.
  package func release(pages: Int) throws { try perform { try $0.run("PRAGMA incremental_vacuum(\(pages))") } }
}
