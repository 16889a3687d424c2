import Database
import JSON

/// The comparison of a job's entries with those of the manifest that takes the place of its own.
extension JobIndex {
  /// An entry, as far as it matters whether another is the same.
  struct Identity {
    let position: Int
    let name: String

    /// What is asked for and what is made of it, as a text; nil for a file, of which nothing tells whether it has changed.
    let work: String?
  }

  /// Creates what the comparison needs, in the index of the new manifest.
  func prepareNames() throws {
    isCompared = true
    try database.execute("CREATE INDEX IF NOT EXISTS names ON entries (name)")
  }

  /// Creates what the comparison needs, in the index of the old manifest.
  func prepareSuccessors() throws {
    isCompared = true
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS successors (position INTEGER PRIMARY KEY, successor INTEGER NOT NULL) STRICT;
      DELETE FROM successors
      """)
  }

  /// Removes what the comparison needed, so that the index can be used for another manifest.
  func removeComparison() throws {
    guard isCompared else { return }
    isCompared = false
    try database.execute("DROP INDEX IF EXISTS names; DROP TABLE IF EXISTS successors")
  }

  /// Calls `body` with all entries, in the manifest's order, a page at a time.
  func eachIdentityPage(_ body: ([Identity]) throws -> Void) throws {
    var page = try identities("WHERE position > ? ORDER BY position LIMIT 1000", [.integer(-1)])
    while let last = page.last {
      try body(page)
      page = try identities("WHERE position > ? ORDER BY position LIMIT 1000", [.integer(last.position)])
    }
  }

  /// The entry of an output's name; nil when there is none.
  func identity(named name: String) throws -> Identity? { try identities("WHERE name = ?", [.text(name)]).first }

  private func identities(_ clause: String, _ values: [SQLiteValue]) throws -> [Identity] {
    var found: [Identity] = []
    try database.run(
      """
      SELECT position, name, iif(url LIKE 'http://%' OR url LIKE 'https://%', json_array(
        url, recipe, format, quality, checksum, key, variant, (SELECT text FROM requests WHERE id = request),
        \(hasDependencies ? Self.namesBefore : "NULL")), NULL) FROM entries
      """ + " " + clause, values
    ) { found.append(Identity(position: $0.integer(0), name: $0.text(1) ?? "", work: $0.text(2))) }
    return found
  }

  /// The names that an entry comes after.
  private static let namesBefore = """
    (SELECT nullif(json_group_array(claim), '[]') FROM (
      SELECT claim FROM dependency_names WHERE dependency_names.position = entries.position ORDER BY claim))
    """

  /// Records that an entry of the new manifest is the same.
  func insertSuccessor(_ successor: Int, of position: Int) throws {
    try database.run("INSERT OR REPLACE INTO successors VALUES (?, ?)", [.integer(position), .integer(successor)])
  }

  /// The same entry's place in the new manifest; nil when that has none.
  func successor(of position: Int) throws -> Int? {
    try database.first("SELECT successor FROM successors WHERE position = ?", [.integer(position)]) { $0.integer(0) }
  }

  /// Whether the entry at a place of the new manifest is in the old one, unchanged.
  func hasSuccessor(at place: Int) throws -> Bool {
    try database.execute("CREATE INDEX IF NOT EXISTS successor_places ON successors (successor)")
    return try database.first("SELECT 1 FROM successors WHERE successor = ?", [.integer(place)]) { _ in true } == true
  }

  /// Has what goes on in another run count as ended.
  func markSucceededEnded() throws {
    try database.run("UPDATE entries SET pending = 0 WHERE position IN (SELECT position FROM successors)")
  }
}
