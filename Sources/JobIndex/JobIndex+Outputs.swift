import Database
import Ledger

/// What earlier runs of the job delivered and what failed in the last one, copied from the ledger: nothing waits for the
/// ledger later.
extension JobIndex {
  package func prepareOutputs() throws {
    try database.execute("CREATE TABLE outputs (\(LedgerOutput.columns.names), PRIMARY KEY (target)) WITHOUT ROWID")
  }

  package func insert(_ output: LedgerOutput) throws {
    try database.run("INSERT INTO outputs VALUES (\(LedgerOutput.columns.placeholders))", output.values)
  }

  /// The output that was delivered under a path beneath the job's folder; nil when there is none.
  package func output(_ target: String) throws -> LedgerOutput? {
    try database.record(LedgerOutput.select("FROM outputs WHERE target = ?"), [.text(target)])
  }

  package func prepareFailures() throws {
    try database.execute("CREATE TABLE failures (\(LedgerFailure.columns.names), PRIMARY KEY (name)) WITHOUT ROWID")
  }

  package func insert(_ failure: LedgerFailure) throws {
    try database.run("INSERT INTO failures VALUES (\(LedgerFailure.columns.placeholders))", failure.values)
  }

  /// The failure of an output's name in the last run; nil when there was none.
  package func failure(_ name: String) throws -> LedgerFailure? {
    try database.record(LedgerFailure.select("FROM failures WHERE name = ?"), [.text(name)])
  }
}

/// The files that a job keeps when what its manifest no longer names is removed.
extension JobIndex {
  package func prepareKept() throws {
    try database.execute("CREATE TABLE IF NOT EXISTS kept (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
  }

  /// Keeps a result, or an original.
  /// - Parameter file: Its path beneath the job's folder; that of an original without its extension keeps it with any.
  package func keep(_ file: String) throws { try database.run("INSERT OR IGNORE INTO kept VALUES (?)", [.text(file)]) }

  /// Whether a result, or the original of a result, is kept.
  package func keeps(_ file: String) throws -> Bool {
    var stem = file
    if file.hasPrefix("originals/"), let dot = file.lastIndex(of: ".") { stem = String(file[..<dot]) }
    let names = [SQLiteValue.text(file), .text(stem)]
    return try database.first("SELECT 1 FROM kept WHERE file IN (?, ?)", names) { _ in true } ?? false
  }
}
