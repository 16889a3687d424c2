/// The tables of a database, as the numbered scripts that lead to them. Script N brings `user_version` N to N + 1; one
/// that was released is never edited.
package struct Migrations: Sendable, ExpressibleByArrayLiteral {
  package let scripts: [String]

  package init(arrayLiteral scripts: String...) { self.scripts = scripts }

  /// The version to which the last script leads.
  package var newest: Int { scripts.count }

  /// The version of a database (`PRAGMA user_version`), 0 for an empty one. It may be one that is not known here.
  package static func version(of database: Database) throws -> Int {
    try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
  }

  /// Whether a version is one that these scripts lead to or begin with.
  package func isKnown(_ version: Int) -> Bool { (0...newest).contains(version) }

  /// Brings a database of a known version to the newest, each script in a transaction.
  package func apply(to database: Database) throws {
    for next in try Self.version(of: database)..<newest {
      try database.transaction {
        try database.execute(scripts[next])
        try database.execute("PRAGMA user_version = \(next + 1)")
      }
    }
  }
}
