import Database
import Ledger
import System

/// The outputs of the job's earlier runs and the failures of its last run, copied from the ledger for quick access.
extension JobIndex {
  package func prepareOutputs() throws {
    try database.execute("CREATE TABLE outputs (\(LedgerOutput.columns.names), PRIMARY KEY (target)) WITHOUT ROWID")
  }

  package func insert(_ output: LedgerOutput) throws {
    try database.run("INSERT INTO outputs VALUES (\(LedgerOutput.columns.placeholders))", output.values)
  }

  /// The outputs whose paths relative to the job's folder are this one and an extension.
  /// - Parameter stem: With its dot at the end, such as `images/a.`.
  package func outputs(at stem: String) throws -> [LedgerOutput] {
    // "/" follows ".". Names that go on, such as `a.b`, are other entries' names.
    try database.all(Self.outputsOfStem, [.text(stem), .text(stem.dropping(bytesOfSuffix: ".") + "/")]) {
      LedgerOutput($0)
    }
  }

  private static let outputsOfStem = LedgerOutput.select(
    "FROM outputs WHERE target > ?1 AND target < ?2 AND instr(substr(target, length(?1) + 1), '.') = 0")

  package func prepareFailures() throws {
    try database.execute("CREATE TABLE failures (\(LedgerFailure.columns.names), PRIMARY KEY (name)) WITHOUT ROWID")
  }

  package func insert(_ failure: LedgerFailure) throws {
    try database.run("INSERT INTO failures VALUES (\(LedgerFailure.columns.placeholders))", failure.values)
  }

  /// The failure of the entry with an output's name in the last run; nil when there was none.
  package func failure(_ name: String) throws -> LedgerFailure? {
    try database.record(LedgerFailure.select("FROM failures WHERE name = ?"), [.text(name)])
  }
}

/// The files that pruning keeps.
extension JobIndex {
  package func prepareKept() throws {
    try database.execute("CREATE TABLE IF NOT EXISTS kept (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
  }

  /// Marks a result or an original as kept.
  /// - Parameter file: The path relative to the job's folder; for an original, the extension may be left out.
  package func keep(_ file: String) throws { try database.run("INSERT OR IGNORE INTO kept VALUES (?)", [.text(file)]) }

  /// Whether a result, or the original of a result, is kept.
  package func keeps(_ file: String) throws -> Bool {
    var stem = file
    if file.begins(with: "originals/"), let cut = file.cut(atLast: ".") { stem = cut.before }
    let names = [SQLiteValue.text(file), .text(stem)]
    return try database.first("SELECT 1 FROM kept WHERE file IN (?, ?)", names) { _ in true } ?? false
  }
}
