import CSQLite
import Glibc

/// What SQLite answered when it did not do what was asked.
package struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code, e.g. 1 (`SQLITE_ERROR`), 13 (`SQLITE_FULL`), 778 (`SQLITE_IOERR_WRITE`).
  package let code: Int32

  /// SQLite's own words, and the file they are about.
  package let description: String

  /// `errno` of the system call that failed (`sqlite3_system_errno`); 0 when none did. With `SQLITE_IOERR`,
  /// `SQLITE_CANTOPEN` and `SQLITE_FULL`.
  package let systemError: Int32

  package let path: String

  package init(code: Int32, message: String, path: String, systemError: Int32 = 0) {
    self.code = code
    self.path = path
    // SQLite keeps the number of an earlier call when it fails without one.
    self.systemError = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(code & 0xff) ? systemError : 0
    let number = self.systemError == 0 ? "" : ", errno \(systemError)"
    description = "\(path): \(message) (SQLite result code \(code)\(number))"
  }

  /// Whether the file is damaged, or is another program's.
  package var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(code & 0xff) }

  /// Whether a constraint or a trigger refused the change.
  package var isConstraint: Bool { code & 0xff == SQLITE_CONSTRAINT }

  /// Whether a part of the file could not be read.
  package var isUnreadable: Bool { code == SQLITE_IOERR | 1 << 8 }

  /// Whether the file's structure is damaged.
  package var isDatabaseMalformed: Bool { code & 0xff == SQLITE_CORRUPT }

  /// Whether the file system has no room for the change; nothing was changed then. A write says so itself; a sync and a
  /// file that grows in another way by `errno`.
  package var isOutOfSpace: Bool {
    code & 0xff == SQLITE_FULL
      || code & 0xff == SQLITE_IOERR && (systemError == ENOSPC || systemError == EDQUOT)
  }

  /// Whether memory is used up, or the library has no descriptor left.
  package var isExhaustion: Bool {
    code & 0xff == SQLITE_NOMEM || [EMFILE, ENFILE, ENOMEM].contains(systemError)
  }

  /// Whether the file could not be read, written or opened: what the same connection would do next is not known, so that
  /// the file is to be opened anew.
  package var isFailureOfFile: Bool {
    [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL]
      .contains(code & 0xff)
  }

  /// Whether the file may not be written.
  package var isForWantOfPermission: Bool { [SQLITE_READONLY, SQLITE_PERM].contains(code & 0xff) }

  /// Whether another connection has the file locked.
  package var isBusy: Bool { code & 0xff == SQLITE_BUSY }

  /// Whether a change that was interrupted would have to be undone first, which the connection may not.
  package var isForWantOfRecovery: Bool { [SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff) }
}
