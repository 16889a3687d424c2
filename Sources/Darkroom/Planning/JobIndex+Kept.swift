import Database

/// The files that a job keeps when what its manifest no longer names is removed.
extension JobIndex {
  /// Creates the table of these files, with the originals of all entries: those have the entry's name, and an extension that
  /// is their source's.
  func prepareKept() throws {
    try database.execute(
      """
      DROP TABLE IF EXISTS kept;
      CREATE TABLE kept (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      INSERT OR IGNORE INTO kept
        SELECT 'originals/' || iif(variant IS NULL, name, substr(name, 1, length(name) - length(variant) - 1))
        FROM entries
      """)
  }

  /// Has a result kept.
  /// - Parameter file: Its path beneath the job's folder.
  func keep(_ file: String) throws { try database.run("INSERT OR IGNORE INTO kept VALUES (?)", [.text(file)]) }

  /// Whether a result, or the original of a result, is kept.
  func keeps(_ file: String) throws -> Bool {
    var name = file
    if file.hasPrefix("originals/"), let dot = file.lastIndex(of: ".") { name = String(file[..<dot]) }
    return try database.first("SELECT 1 FROM kept WHERE file = ?", [.text(name)]) { _ in true } ?? false
  }

  /// Removes the table, so that the index can be used for another manifest.
  func removeKept() throws { try database.execute("DROP TABLE IF EXISTS kept") }
}
