import Database

/// Compares the entries of two manifests of a job.
extension JobIndex {
  /// The properties of an entry by which it is compared with one of another manifest.
  package struct Identity {
    package let name: String

    /// The request and the processing as text; nil for a file, which may have changed.
    package let work: String?
  }

  /// Creates the index for finding entries by name.
  package func prepareNames() throws { try database.execute("CREATE INDEX IF NOT EXISTS names ON entries (name)") }

  /// The entry at a position of the manifest; nil when there is none.
  package func identity(at position: Int) throws -> Identity? { try identity("position = ?", .integer(position)) }

  /// The entry with an output's name; nil when there is none.
  package func identity(named name: String) throws -> Identity? { try identity("name = ?", .text(name)) }

  /// The position of the row with an output's name; nil when there is none.
  package func position(named name: String) throws -> Int? {
    try database.first("SELECT position FROM entries WHERE name = ?", [.text(name)]) { $0.integer(0) }
  }

  /// Creates the index for finding the rows of lines.
  package func prepareLines() throws {
    try database.execute("CREATE INDEX IF NOT EXISTS lines ON entries (coalesce(line, position))")
  }

  /// The position of a report's row, and its output's name; nil when the manifest has no such row.
  /// - Parameters:
  ///   - line: The number of its line in the manifest, from 0.
  ///   - name: The name that the row shows.
  package func row(ofLine line: Int, variant: String?, shown name: String) throws -> (position: Int, name: String)? {
    try database.first(
      """
      SELECT position, name FROM entries
      WHERE coalesce(line, position) = ? AND variant IS ? AND coalesce(original, name) = ?
      """, [.integer(line), .optional(variant), .text(name)]
    ) { ($0.integer(0), $0.text(1) ?? "") }
  }

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
