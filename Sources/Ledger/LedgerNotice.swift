import Database

/// What is to be done when a run has ended: a request to a receiver (`--notify`), or the run of a program (`--exec`).
///
/// It is recorded in the same commit as the intent to deliver the run's report, and becomes due in the commit that ends the
/// run.
package struct LedgerNotice: Sendable, Equatable, DatabaseRecord {
  /// Raw values are the names of the options.
  package enum Kind: String, Sendable, CaseIterable { case notify, exec }

  package let runID: String
  package let kind: Kind
  package let job: String

  /// The state in the run's report.
  package let state: String

  /// The path of the run's report.
  package let report: String

  /// The body of the request (JSON); nil for a program.
  package let body: String?

  /// How often it was tried.
  package var attempts = 0

  /// When the run ended, in milliseconds since 1970, UTC; nil before that.
  package var ended: Int?

  /// When it is tried next, in milliseconds since 1970, UTC; nil before the run has ended.
  package var due: Int?

  package init(runID: String, kind: Kind, job: String, state: String, report: String, body: String? = nil) {
    self.runID = runID
    self.kind = kind
    self.job = job
    self.state = state
    self.report = report
    self.body = body
  }

  package static let columns: Columns = [
    "run_id", "kind", "job", "state", "report", "body", "attempts", "ended_ms", "due_ms",
  ]

  package init(_ row: Statement) {
    self.init(
      runID: row.text(0) ?? "", kind: row.text(1).flatMap(Kind.init(rawValue:)) ?? .notify, job: row.text(2) ?? "",
      state: row.text(3) ?? "", report: row.text(4) ?? "", body: row.text(5))
    (attempts, ended, due) = (row.integer(6), row.optionalInteger(7), row.optionalInteger(8))
  }

  package var values: [SQLiteValue] {
    [
      .text(runID), .text(kind.rawValue), .text(job), .text(state), .text(report), .optional(body), .integer(attempts),
      .optional(ended), .optional(due),
    ]
  }

  /// Makes the notices of a run due.
  /// - Parameter time: When the run ended, in milliseconds since 1970.
  /// - Throws: `LedgerError.damaged` when one is not what was written.
  static func release(_ runID: String, at time: Int, _ database: Database) throws {
    try database.run(makeDue, [.integer(time), .text(runID)])
    let isLeft = try database.first(
      "SELECT 1 FROM notices WHERE run_id = ? AND due_ms IS NULL", [.text(runID)], row: { _ in true })
    guard isLeft == nil else {
      throw LedgerError.damaged(path: database.path, why: "a notice of run \(runID) is not what was written")
    }
  }

  // A changed row must be intact: a damaged one must not get a matching digest.
  private static let makeDue = """
    UPDATE notices SET ended_ms = ?1, due_ms = ?1, digest =
    \(LedgerTable.notices.digest(changing: ["ended_ms": "?1", "due_ms": "?1"]))
    WHERE run_id = ?2 AND due_ms IS NULL AND \(LedgerTable.notices.isIntact)
    """
}

extension Ledger {
  /// The notice of a kind that is due first, of those whose runs have ended; nil without any.
  package func nextNotice(_ kind: LedgerNotice.Kind) throws -> LedgerNotice? {
    let clause = "WHERE kind = ? AND due_ms IS NOT NULL ORDER BY due_ms, rowid LIMIT 1"
    let notices: [LedgerNotice] = try perform { try $0.intactRecords(of: .notices, clause, [.text(kind.rawValue)]) }
    return notices.first
  }

  /// The number of notices of a kind whose runs have ended.
  package func noticeCount(_ kind: LedgerNotice.Kind) throws -> Int {
    try perform { database in
      try database.first(
        "SELECT count(*) FROM notices WHERE kind = ? AND due_ms IS NOT NULL", [.text(kind.rawValue)]
      ) { $0.integer(0) } ?? 0
    }
  }

  /// Removes notices that nothing will process: those of runs that are not live and have not ended, because the ledger was
  /// rebuilt, and old ones.
  /// - Parameters:
  ///   - time: In milliseconds since 1970. Those of runs that ended before it are removed.
  ///   - kinds: Kinds that are processed; theirs are not removed for their age.
  package func removeNotices(endedBefore time: Int, except kinds: Set<LedgerNotice.Kind>) throws {
    let old = LedgerNotice.Kind.allCases.filter { !kinds.contains($0) }.map { "'\($0.rawValue)'" }
    try perform { database in
      try database.run(
        """
        DELETE FROM notices WHERE due_ms IS NULL AND NOT EXISTS (
          SELECT 1 FROM jobs WHERE jobs.run_id = notices.run_id AND jobs.state != 'ended')
        OR kind IN (\(old.joined(separator: ", "))) AND ended_ms < ?
        """, [.integer(time)])
    }
  }
}
