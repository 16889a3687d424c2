import Database
import Ledger

/// What earlier runs of the job delivered, copied from the ledger: filtrations do not wait for that.
extension JobIndex {
  /// Creates the table of outputs.
  func prepareOutputs() throws {
    try database.execute("CREATE TABLE outputs (\(LedgerOutput.columns.names), PRIMARY KEY (target)) WITHOUT ROWID")
  }

  func insert(_ output: LedgerOutput) throws {
    try database.run("INSERT INTO outputs VALUES (\(LedgerOutput.columns.placeholders))", output.values)
  }

  /// The output that was delivered under a path beneath the job's folder; nil when there is none.
  func output(_ target: String) throws -> LedgerOutput? {
    try database.record(LedgerOutput.select("FROM outputs WHERE target = ?"), [.text(target)])
  }
}
