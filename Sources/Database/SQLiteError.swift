import CSQLite
import Glibc

/// An error of SQLite.
package struct SQLiteError: Error, CustomStringConvertible {
  /// Extended result code, e.g. 1 (`SQLITE_ERROR`), 13 (`SQLITE_FULL`), 778 (`SQLITE_IOERR_WRITE`).
  package let code: Int32

  /// SQLite's message, with the file.
  package let description: String

  /// `errno` of the system call that failed (`sqlite3_system_errno`); 0 when none did. With `SQLITE_IOERR`,
  /// `SQLITE_CANTOPEN` and `SQLITE_FULL`.
  package let systemError: Int32

  package let path: String

  package init(code: Int32, message: String, path: String, systemError: Int32 = 0) {
    self.code = code
    self.path = path
    // SQLite keeps an earlier number when it fails without a system call.
    self.systemError = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(code & 0xff) ? systemError : 0
    let number = self.systemError
    let cause = number == 0 ? "" : ": " + String(cString: strerror(number))
    description = "\(path): \(message)\(cause) (SQLite result code \(code)\(number == 0 ? "" : ", errno \(number)"))"
  }

  /// Whether the file is damaged, or belongs to another program.
  package var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(code & 0xff) }

  /// Whether the file's structure is damaged.
  package var isDatabaseMalformed: Bool { code & 0xff == SQLITE_CORRUPT }

  /// Whether the file is none of SQLite.
  package var isNoDatabase: Bool { code & 0xff == SQLITE_NOTADB }

  /// Whether a constraint or a trigger rejected the change.
  package var isConstraint: Bool { code & 0xff == SQLITE_CONSTRAINT }

  /// Whether part of the file could not be read.
  package var isUnreadable: Bool { code == SQLITE_IOERR | 1 << 8 }

  /// Whether the file system has no space for the change. A failed write says so itself; a sync, a quota, a new file, and other ways
  /// to grow a file, by `errno`.
  package var isOutOfSpace: Bool {
    code & 0xff == SQLITE_FULL
      || [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xff) && [ENOSPC, EDQUOT].contains(systemError)
  }

  /// Whether a commit that failed so may have happened: everything was written, and a sync, or the end of the journal, failed.
  package var mayHaveCommitted: Bool { code & 0xff == SQLITE_IOERR && ![1, 2, 3].contains(code >> 8) }

  /// Whether memory or descriptors are exhausted.
  package var isExhaustion: Bool { code & 0xff == SQLITE_NOMEM || [EMFILE, ENFILE, ENOMEM].contains(systemError) }

  /// Whether the file could not be read, written or opened: the state of the connection is then undefined, so the file must be
  /// reopened.
  package var isFailureOfFile: Bool {
    [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL]
      .contains(code & 0xff)
  }

  /// Whether the file is not writable.
  package var isForWantOfPermission: Bool { [SQLITE_READONLY, SQLITE_PERM].contains(code & 0xff) }

  /// Whether another connection has locked the file.
  package var isBusy: Bool { code & 0xff == SQLITE_BUSY }

  /// Whether an interrupted change must be undone first, which the connection may not do.
  package var isForWantOfRecovery: Bool { [SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff) }
}
