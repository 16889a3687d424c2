import Database
import Glibc
import Ledger
import System

/// An error of the machine's or of a file of ours, whose cause is known.
package protocol LocalError: Error {
  var cause: ErrorCause { get }
}

extension SystemError: LocalError {}

extension SQLiteError: LocalError {
  package var cause: ErrorCause {
    if isOutOfSpace { return .space }
    if isExhaustion { return .exhaustion }
    return isFailureOfFile ? .device : .other
  }
}

extension Error {
  package var localCause: ErrorCause? { (self as? any LocalError)?.cause }

  /// Whether the ledger failed, or is damaged.
  package func isOfLedger(_ state: StateFolder) -> Bool {
    (self as? SQLiteError)?.path == state.ledger || self is LedgerError
  }

  /// Whether the machine is to blame: what failed is tried again.
  package var isOfMachine: Bool { localCause?.isOfMachine == true }

  /// The same for something that only this program makes and removes.
  package var isOfMachineForOwnFile: Bool { localCause?.isOfMachineForOwnFile == true }

  /// Whether what cannot be done now may soon be possible: resources are used up, a disk fails. Permissions and a
  /// want of space are for the operator.
  package var mayPassSoon: Bool {
    if let error = self as? SQLiteError, error.systemError != 0 {
      return ErrorCause(errno: error.systemError).mayPassSoon
    }
    if (self as? SQLiteError)?.isForWantOfPermission == true { return false }
    return localCause?.mayPassSoon == true
  }

  /// Whether something cannot be written because its file system is mounted read-only, which is for the operator. A disk that
  /// only answers EROFS may do so for a while.
  package var isOfReadOnlyMount: Bool {
    switch self {
    case let error as SystemError: error.code == EROFS && Folder.isReadOnlyMount(error.path)
    case let error as SQLiteError: error.systemError == EROFS && Folder.isReadOnlyMount(error.path)
    default: false
    }
  }

  /// Whether SQLite has refused a change for what it is, and has not made it.
  package var isRefusal: Bool { (self as? SQLiteError)?.isConstraint == true }

  /// Whether the process or the machine has no descriptors, memory or other resources left.
  package var isExhaustion: Bool { localCause == .exhaustion }

  package var isOutOfSpace: Bool { localCause == .space }
}

extension ErrorCause {
  fileprivate var mayPassSoon: Bool { [.exhaustion, .device, .interrupted].contains(self) }
}
