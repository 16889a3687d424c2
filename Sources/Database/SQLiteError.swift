import CSQLite

/// What SQLite answered when it did not do what was asked.
package struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code, e.g. 1 (`SQLITE_ERROR`), 13 (`SQLITE_FULL`), 778 (`SQLITE_IOERR_WRITE`).
  package let code: Int32

  /// SQLite's own words, and the file they are about.
  package let description: String

  package init(code: Int32, message: String, path: String) {
    self.code = code
    description = "\(path): \(message) (SQLite result code \(code))"
  }

  /// Whether the file is damaged, or is another program's.
  package var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(code & 0xff) }

  /// Whether the file's structure is damaged.
  package var isDatabaseMalformed: Bool { code & 0xff == SQLITE_CORRUPT }

  /// Whether the file system has no room for the change; nothing was changed then.
  package var isOutOfSpace: Bool { code & 0xff == SQLITE_FULL }

  /// Whether another connection has the file locked.
  package var isBusy: Bool { code & 0xff == SQLITE_BUSY }

  /// Whether a change that was interrupted would have to be undone first, which the connection may not.
  package var isForWantOfRecovery: Bool { [SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff) }
}
