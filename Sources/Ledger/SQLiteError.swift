import CSQLite

/// What SQLite answered when it did not do what was asked.
package struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code, e.g. 1 (`SQLITE_ERROR`), 13 (`SQLITE_FULL`), 778 (`SQLITE_IOERR_WRITE`).
  package let code: Int32

  /// SQLite's own words, and the file they are about.
  package let description: String

  init(code: Int32, message: String, path: String) {
    self.code = code
    description = "\(path): \(message) (SQLite result code \(code))"
  }

  /// Whether the file is damaged, or was never a database of ours.
  package var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(code & 0xff) }

  /// Whether the file system has no room for the change; nothing was changed then.
  package var isOutOfSpace: Bool { code & 0xff == SQLITE_FULL }
}
