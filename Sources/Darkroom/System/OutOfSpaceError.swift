import Ledger

/// An error that may be for want of space on a file system: then what failed is to be tried again later.
protocol OutOfSpaceError: Error {
  var isOutOfSpace: Bool { get }
}

extension SystemError: OutOfSpaceError {}
extension SQLiteError: OutOfSpaceError {}
