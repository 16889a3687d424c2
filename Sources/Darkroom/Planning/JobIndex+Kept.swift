import Database

/// The files that a job keeps when what its manifest no longer names is removed.
extension JobIndex {
  /// Creates the table of these files.
  func prepareKept() throws {
    try database.execute("CREATE TABLE IF NOT EXISTS kept (file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
  }

  /// Has a result, or an original, kept.
  /// - Parameter file: Its path beneath the job's folder; that of an original without its extension keeps it with any.
  func keep(_ file: String) throws { try database.run("INSERT OR IGNORE INTO kept VALUES (?)", [.text(file)]) }

  /// Whether a result, or the original of a result, is kept.
  func keeps(_ file: String) throws -> Bool {
    var stem = file
    if file.hasPrefix("originals/"), let dot = file.lastIndex(of: ".") { stem = String(file[..<dot]) }
    let names = [SQLiteValue.text(file), .text(stem)]
    return try database.first("SELECT 1 FROM kept WHERE file IN (?, ?)", names) { _ in true } ?? false
  }
}
