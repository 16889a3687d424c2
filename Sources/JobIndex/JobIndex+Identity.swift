import Database

/// What a run does that another manifest wants as well.
extension JobIndex {
  /// An entry, as far as it matters whether another is the same.
  package struct Identity {
    package let name: String

    /// What is asked for and what is made of it, as a text; nil for a file, of which nothing tells whether it has changed.
    package let work: String?
  }

  /// Creates what finding entries by their names needs.
  package func prepareNames() throws { try database.execute("CREATE INDEX names ON entries (name)") }

  /// The entry at a place of the manifest; nil when there is none.
  package func identity(at position: Int) throws -> Identity? { try identity("position = ?", .integer(position)) }

  /// The entry of an output's name; nil when there is none.
  package func identity(named name: String) throws -> Identity? { try identity("name = ?", .text(name)) }

  private func identity(_ condition: String, _ value: SQLiteValue) throws -> Identity? {
    try database.first(
      """
      SELECT name, iif(url LIKE 'http://%' OR url LIKE 'https://%', json_array(
        url, recipe, format, quality, checksum, key, variant, (SELECT text FROM requests WHERE id = request)),
        NULL) FROM entries WHERE \(condition)
      """, [value]
    ) { Identity(name: $0.text(0) ?? "", work: $0.text(1)) }
  }
}
