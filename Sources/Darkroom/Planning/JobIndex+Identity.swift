import Database
import JSON

/// The comparison of a run's entries with those of the manifest that takes the place of its own.
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

  /// Removes what the comparison needed, so that the index can be used for another manifest.
  func removeComparison() throws {
    guard isCompared else { return }
    isCompared = false
    try database.execute("DROP INDEX IF EXISTS names")
  }

  /// The entry at a place of the manifest; nil when there is none.
  func identity(at position: Int) throws -> Identity? {
    try identities("WHERE position = ?", [.integer(position)]).first
  }

  /// The entry of an output's name; nil when there is none.
  func identity(named name: String) throws -> Identity? { try identities("WHERE name = ?", [.text(name)]).first }

  private func identities(_ clause: String, _ values: [SQLiteValue]) throws -> [Identity] {
    var found: [Identity] = []
    try database.run(
      """
      SELECT position, name, iif(url LIKE 'http://%' OR url LIKE 'https://%', json_array(
        url, recipe, format, quality, checksum, key, variant, (SELECT text FROM requests WHERE id = request)),
        NULL) FROM entries
      """ + " " + clause, values
    ) { found.append(Identity(position: $0.integer(0), name: $0.text(1) ?? "", work: $0.text(2))) }
    return found
  }
}
