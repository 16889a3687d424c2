import Database

extension Ledger {
  /// Copies the intact rows of a damaged ledger, except those that belong to a job whose row is not intact.
  /// - Parameter path: The damaged file. A change that a process left unfinished is undone in it.
  /// - Returns: The number of copied rows.
  /// - Throws: `SQLiteError`, about this ledger, or about an error of the other one that is not damage: nothing is lost then.
  package func salvage(from path: String) throws -> Int {
    let (damaged, version): (Database, Int)
    do {
      damaged = try Database(path: path, durability: .powerCut)
      version = try Migrations.version(of: damaged)
    } catch let error where error.isDamageOfLedger {
      return 0
    }
    // Another version's rows may have other columns, and their digests are those of the version that wrote them.
    guard version == LedgerSchema.migrations.newest else { return 0 }
    return try perform { database in
      try database.transaction {
        var (runs, count): (Set<String>, Int) = ([], 0)
        for table in LedgerTable.all { count += try Self.copy(table, from: damaged, to: database, runs: &runs) }
        try LedgerNamedRun.removeOrphans(database)
        return count
      }
    }
  }

  /// Copies rows from the beginning to the first unreadable one, and from the end to the last.
  private static func copy(
    _ table: LedgerTable, from damaged: Database, to database: Database, runs: inout Set<String>
  ) throws -> Int {
    let columns = table.columns.joined(separator: ", ")
    let belongsToJob = table.isPartOfJob
    var count = 0
    for order in ["ASC", "DESC"] {
      let keys = table.key.map { "\($0) \(order)" }.joined(separator: ", ")
      var failure: (any Error)?
      do {
        try damaged.run("SELECT \(columns) FROM \(table.name) WHERE \(table.isIntact) ORDER BY \(keys)") { row in
          let values = (0..<table.columns.count).map { row.value(Int32($0)) }
          if table.name == LedgerTable.jobs.name, case .text(let runID) = values[0] { runs.insert(runID) }
          if belongsToJob, case .text(let runID) = values[0], !runs.contains(runID) { return }
          do {
            try database.run(table.addIfMissing, values)
            count += database.changes
          } catch {
            failure = error
            throw error
          }
        }
        break
      } catch {
        // Damage ends the reading; errors of the new ledger or the machine end everything.
        if let failure { throw failure }
        guard error.isDamageOfLedger else { throw error }
      }
    }
    return count
  }

  /// Verifies the ledger: its structure (`PRAGMA integrity_check`), and the digests of its rows. Rows that are not reached in
  /// time are verified when they are read.
  /// - Parameters:
  ///   - isOver: Whether the time is over; called repeatedly.
  ///   - structureLimit: The structure of a larger file, in bytes, is not checked, because that cannot be interrupted.
  /// - Returns: Whether everything was checked.
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
    let rows = count == 1 ? "1 row of \(table.name) is" : "\(count) rows of \(table.name) are"
    throw LedgerError.damaged(path: database.path, why: rows + " not what was written")
  }
}
