import Database
import Ledger
import System

/// An error that may be for want of space on a file system: then what failed is to be tried again later.
package protocol OutOfSpaceError: Error {
  /// Whether it is for want of space.
  var isOutOfSpace: Bool { get }
}

extension SystemError: OutOfSpaceError {}
extension SQLiteError: OutOfSpaceError {}

extension Error {
  /// Whether the ledger failed: then nothing can go on.
  var isOfLedger: Bool { self is SQLiteError || self is LedgerError }
}
