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

  /// Whether these scripts begin with or lead to a version.
  package func isKnown(_ version: Int) -> Bool { (0...newest).contains(version) }

  /// Migrates a database of a known version to the newest, each script in a transaction.
  package func apply(to database: Database) throws {
    for next in try Self.version(of: database)..<newest {
      try database.transaction {
        try database.execute(scripts[next])
        try database.execute("PRAGMA user_version = \(next + 1)")
      }
    }
  }
}
