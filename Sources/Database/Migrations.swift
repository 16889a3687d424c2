/// The numbered scripts that create the tables of a database. Script N migrates `user_version` N to N + 1; a released script
/// is never edited.
package struct Migrations: Sendable, ExpressibleByArrayLiteral {
  package let scripts: [String]

  package init(arrayLiteral scripts: String...) { self.scripts = scripts }

  /// The version after the last script.
  package var newest: Int { scripts.count }

  /// The version of a database (`PRAGMA user_version`), 0 for an empty one. It may be unknown to this program.
  package static func version(of database: Database) throws -> Int {
    try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
  }

  /// The version whose tables and indexes a database has exactly: that of a database restored from a `.dump` of the `sqlite3`
  /// command, which leaves `user_version` out. nil when there is none, and for an empty database.
  package func versionByTables(of database: Database) throws -> Int? {
    func schema(_ database: Database) throws -> [String] {
      let text = "type || ' ' || name || ' ' || tbl_name || coalesce(' ' || sql, '')"
      return try database.all("SELECT \(text) FROM sqlite_schema ORDER BY 1") { $0.text(0) ?? "" }
    }
    let found = try schema(database)
    guard !found.isEmpty else { return nil }
    let made = try Database(path: Database.inMemory, durability: .none)
    for (index, script) in scripts.enumerated() {
      try made.execute(script)
      if try schema(made) == found { return index + 1 }
    }
    return nil
  }

  /// Whether these scripts begin with or lead to a version.
  package func isKnown(_ version: Int) -> Bool { (0...newest).contains(version) }

  /// Migrates a database of a known version to the newest in one transaction, so that a new database costs one commit.
  package func apply(to database: Database) throws {
    if try Self.version(of: database) == 0, let version = try versionByTables(of: database) {
      try database.execute("PRAGMA user_version = \(version)")
    }
    let version = try Self.version(of: database)
    guard version < newest else { return }
    try database.transaction {
      for script in scripts[version...] { try database.execute(script) }
      try database.execute("PRAGMA user_version = \(newest)")
    }
  }
}
