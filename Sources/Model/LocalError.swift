import Database
import Glibc
import Ledger
import System

/// An error of the machine or of a file of this program, with a known cause.
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

  /// Whether the machine failed. The operation is tried again.
  package var isOfMachine: Bool { localCause?.isOfMachine == true }

  /// Whether the machine failed, for a file that only this program creates and removes.
  package var isOfMachineForOwnFile: Bool { localCause?.isOfMachineForOwnFile == true }

  /// Whether the operation may succeed soon: resources were used up, or a disk failed. Missing permissions and a full
  /// disk are left to the operator.
  package var mayPassSoon: Bool {
    if let error = self as? SQLiteError, error.systemError != 0 {
      return ErrorCause(errno: error.systemError).mayPassSoon
    }
    if (self as? SQLiteError)?.isForWantOfPermission == true { return false }
    return localCause?.mayPassSoon == true
  }

  /// Whether a file cannot be written because its file system is mounted read-only, which is left to the operator. A
  /// failing disk may return EROFS for a while without that.
  package var isOfReadOnlyMount: Bool {
    switch self {
    case let error as SystemError: error.code == EROFS && Folder.isReadOnlyMount(error.path)
    case let error as SQLiteError: error.systemError == EROFS && Folder.isReadOnlyMount(error.path)
    default: false
    }
  }

  /// Whether SQLite rejected a change because of a constraint.
  package var isRefusal: Bool { (self as? SQLiteError)?.isConstraint == true }

  /// Whether the process or the machine has no descriptors, memory or other resources left.
  package var isExhaustion: Bool { localCause == .exhaustion }

  package var isOutOfSpace: Bool { localCause == .space }

  /// Whether a change has certainly not happened, because there is no space for it. A commit of which only the sync failed may have.
  package var isUndoneForWantOfSpace: Bool { isOutOfSpace && (self as? SQLiteError)?.mayHaveCommitted != true }
}

extension ErrorCause {
  fileprivate var mayPassSoon: Bool { [.exhaustion, .device, .interrupted].contains(self) }
}
