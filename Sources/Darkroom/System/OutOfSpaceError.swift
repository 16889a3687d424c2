import Ledger

/// An error that may be for want of space on a file system: then what failed is to be tried again later.
package protocol OutOfSpaceError: Error {
  /// Whether it is for want of space.
  var isOutOfSpace: Bool { get }
}

extension SystemError: OutOfSpaceError {}
extension SQLiteError: OutOfSpaceError {}
