import Glibc

/// A system call that failed.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `errno`, e.g. `ENOSPC`.
  package let code: Int32

  /// The operation that failed, e.g. `open`.
  package let operation: String

  /// The path or name of its object.
  package let path: String

  /// Whether the object is a folder. Default: it is a file, or anything.
  package let isFolder: Bool

  /// Takes `errno` as the failed call left it.
  package init(_ operation: String, _ path: String, isFolder: Bool = false, code: Int32 = errno) {
    self.code = code
    self.operation = operation
    self.path = path
    self.isFolder = isFolder
  }

  /// Names the object and the reason. The operation is left out when the object is missing, since it does not matter then.
  package var description: String {
    switch code {
    case ENOENT: isFolder ? "no such folder: \(path)" : "\(path): \(systemMessage(code))"
    default: "\(path): \(systemMessage(code)) (\(operation))"
    }
  }

  /// What gives this user access; nil for errors that have other causes.
  package var accessRemedy: String? {
    switch code {
    case EROFS:
      "the file system is read-only here: a service needs the folder in ReadWritePaths=, a container as a volume; else mount "
        + "it for writing"
    case EACCES, EPERM: "call it as the user that owns it, or give this user access"
    default: nil
    }
  }

  /// The description and, where access is denied, the remedy.
  package var explained: String { description + (accessRemedy.map { "; " + $0 } ?? "") }

  package var cause: ErrorCause { ErrorCause(errno: code) }

  /// Whether the file system has no space: `ENOSPC` or `EDQUOT`.
  package var isOutOfSpace: Bool { cause == .space }
}

/// The C library's message for an `errno` (`strerror_r`), such as `No space left on device`.
package func systemMessage(_ code: Int32) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
  return buffer.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
}

/// The cause of a failed system call, as far as it matters for what follows: the only code that distinguishes error numbers.
package enum ErrorCause: Sendable, Hashable, CaseIterable {
  /// The file system has no space, or the user's quota is used up.
  case space
  /// Memory, descriptors or other resources of the process or the machine are used up.
  case exhaustion
  /// The disk or the file system fails, is read-only, or is missing.
  case device
  /// A permission is missing: it may be granted later.
  case permission
  /// Something under the path is missing.
  case missing
  /// Something else has the name.
  case occupied
  /// The call was interrupted by a signal.
  case interrupted
  /// The same call would fail again: its arguments are invalid, or a limit is exceeded.
  case other

  /// - Parameter code: `errno`.
  package init(errno code: Int32) {
    self =
      switch code {
      case ENOSPC, EDQUOT: .space
      case EMFILE, ENFILE, ENOMEM, ENOLCK, EAGAIN, ENOBUFS, EUSERS: .exhaustion
      case EIO, EROFS, ESTALE, ENXIO, ENODEV, ENOMEDIUM, EREMOTEIO, ETIMEDOUT, ENOTCONN, ECONNREFUSED, ECONNRESET,
        EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ESHUTDOWN, EUCLEAN, EBADMSG, EPROTO, EBUSY, ETXTBSY:
        .device
      case EACCES, EPERM: .permission
      case ENOENT: .missing
      case EEXIST, ENOTDIR, EISDIR, ENOTEMPTY, ELOOP: .occupied
      case EINTR: .interrupted
      default: .other
      }
  }

  /// Whether the machine failed, not the operation: it is tried again later.
  package var isOfMachine: Bool {
    switch self {
    case .space, .exhaustion, .device, .permission, .interrupted: true
    case .missing, .occupied, .other: false
    }
  }

  /// The same for a file that only this program creates and removes: when it or its folder is missing, the file system is not
  /// there, or somebody else has removed it.
  package var isOfMachineForOwnFile: Bool { isOfMachine || self == .missing }
}

/// Repeats a call of the C library as long as a signal interrupts it.
/// - Parameter call: Returns -1 with `errno` when it fails.
@inline(__always)
package func uninterrupted<T: FixedWidthInteger & SignedInteger>(_ call: () -> T) -> T {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}
