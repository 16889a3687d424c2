import Database

/// A table of the ledger: its columns in the order of the digest of its rows.
struct LedgerTable: Sendable {
  let name: String

  /// All columns except the digest.
  let columns: [String]

  /// The columns that define the order of rows in the file.
  let key: [String]

  /// True for a row that matches its digest.
  let isIntact: String

  /// Writes a row, or all columns of the one with its key. It takes values for `columns`. An update takes less time than
  /// `REPLACE`, for which SQLite also saves each page before it changes it (the statement journal).
  let put: String

  /// Writes a row. It takes values for `columns`.
  let add: String

  /// Writes a row unless there is one with its key. It takes values for `columns`.
  let addIfMissing: String

  /// Whether its rows belong to rows of `jobs`, by their first column.
  var isPartOfJob: Bool { ["pauses", "deferred", "entries"].contains(name) }

  private init(_ name: String, _ columns: [String], key: [String]) {
    self.name = name
    self.columns = columns
    self.key = key
    isIntact = "digest IS row_digest(\(columns.joined(separator: ", ")))"
    let numbered = (1...columns.count).map { "?\($0)" }.joined(separator: ", ")
    let row = "\(name) (\(columns.joined(separator: ", ")), digest) VALUES (\(numbered), row_digest(\(numbered)))"
    let changed = (columns + ["digest"]).filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }
    put = "INSERT INTO \(row) ON CONFLICT DO UPDATE SET " + changed.joined(separator: ", ")
    add = "INSERT INTO " + row
    addIfMissing = "INSERT OR IGNORE INTO " + row
  }

  /// The digest of a row with changed columns: the expression for `SET digest = …`.
  /// - Parameter changed: Expressions for columns.
  func digest(changing changed: [String: String]) -> String {
    "row_digest(\(columns.map { changed[$0] ?? $0 }.joined(separator: ", ")))"
  }

  /// A query for columns, and for whether the row is intact.
  func select(_ columns: Columns, _ rest: String) -> String {
    "SELECT \(columns.names), \(isIntact) FROM \(name) \(rest)"
  }

  static let jobs = LedgerTable("jobs", LedgerJob.columns.list + ["sequence"], key: ["rowid"])
  static let entries = LedgerTable(
    "entries", ["run_id", "ended"] + LedgerEntry.columns.list, key: ["run_id", "position"])
  static let outputs = LedgerTable("outputs", ["job"] + LedgerOutput.columns.list, key: ["job", "target"])
  static let pauses = LedgerTable(
    "pauses", ["run_id"] + LedgerPause.columns.list, key: ["run_id", "cause", "lock", "began_ms"])
  static let lastRuns = LedgerTable("last_runs", ["job", "run_id"], key: ["job"])
  static let failures = LedgerTable("failures", ["run_id"] + LedgerFailure.columns.list, key: ["run_id", "name"])
  static let namedRuns = LedgerTable("named_runs", ["job"] + LedgerNamedRun.columns.list, key: ["job", "run_id"])
  static let names = LedgerTable("names", ["run_id"] + LedgerNames.columns.list, key: ["run_id", "page"])
  static let deferred = LedgerTable("deferred", ["run_id"] + LedgerDeferral.columns.list, key: ["run_id", "position"])

  static let notices = LedgerTable("notices", LedgerNotice.columns.list, key: ["run_id", "kind"])

  /// All tables, each after those that it refers to; those that grow come last.
  static let all = [jobs, lastRuns, namedRuns, pauses, deferred, notices, failures, names, entries, outputs]
}

extension Database {
  /// The records of a query.
  /// - Parameter rest: The text after the table's name, such as `WHERE run_id = ?`.
  /// - Throws: `SQLiteError`; `LedgerError.damaged` for a row that does not match its digest.
  func intactRecords<R: DatabaseRecord>(
    of table: LedgerTable, _ rest: String, _ values: [SQLiteValue] = []
  ) throws -> [R] {
    var records: [R] = []
    try run(table.select(R.columns, rest), values) { row in
      try checkIntact(row, table, R.columns)
      records.append(try R(row))
    }
    return records
  }

  /// Throws unless a row of `LedgerTable.select` matches its digest.
  func checkIntact(_ row: Statement, _ table: LedgerTable, _ columns: Columns) throws(LedgerError) {
    guard row.integer(Int32(columns.count)) == 1 else {
      throw .damaged(path: path, why: "a row of \(table.name) is not what was written")
    }
  }
}
