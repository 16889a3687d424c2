import Database

extension Ledger {
  /// Checks that the ledger is what was written: its structure (`PRAGMA integrity_check`), and the digests of its rows. What
  /// there is no time for is checked when it is read.
  /// - Parameters:
  ///   - isOver: Whether the time is over: asked again and again.
  ///   - structureLimit: Of a file with more bytes the structure is not checked: that is not interrupted.
  /// - Returns: Whether there was time for everything.
  /// - Throws: `LedgerError.damaged`, `SQLiteError`.
  package func check(bytes: Int, structureLimit: Int = 4 << 30, isOver: @escaping () -> Bool) throws -> Bool {
    try perform { database in
      let isChecked: Void? = try database.limited(by: isOver) {
        if bytes <= structureLimit { try Self.checkStructure(database) }
        for table in LedgerTable.all { try Self.checkRows(of: table, database) }
      }
      return isChecked != nil && bytes <= structureLimit && !isOver()
    }
  }

  private static func checkStructure(_ database: Database) throws {
    let answer = try database.first("PRAGMA integrity_check(1)") { $0.text(0) ?? "" }
    guard answer == "ok" else { throw LedgerError.damaged(path: database.path, why: answer ?? "no answer") }
  }

  private static func checkRows(of table: LedgerTable, _ database: Database) throws {
    let count = try database.first("SELECT count(*) FROM \(table.name) WHERE NOT (\(table.isIntact))") { $0.integer(0) }
    guard let count, count > 0 else { return }
    throw LedgerError.damaged(path: database.path, why: "\(count) rows of \(table.name) are not what was written")
  }
}
