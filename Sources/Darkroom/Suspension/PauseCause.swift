import Inbox

/// Something for which both queues are suspended.
package enum PauseCause: Sendable, Hashable {
  case lock(Lock)
  /// The outbox's file system has fewer free bytes than `--min-free`, or refused a write for want of space.
  case disk(reason: String)
  /// Programs wait for memory, or a control group has used nearly all of its own.
  case memory(reason: String)

  /// The names of the kinds of causes.
  static let kinds = [lockKind, "disk", "memory"]

  package static let lockKind = "lock"

  /// The name of the kind of cause in reports.
  package var kind: String {
    switch self {
    case .lock: Self.lockKind
    case .disk: "disk"
    case .memory: "memory"
    }
  }

  /// The lock's name; empty for another cause.
  package var lock: String {
    if case .lock(let lock) = self { lock.name } else { "" }
  }

  package var reason: String? {
    switch self {
    case .lock(let lock): lock.reason
    case .disk(let reason), .memory(let reason): reason
    }
  }

  /// Its end in words, e.g. `deploy.lock (until the backup is done) is gone`.
  package var end: String {
    switch self {
    case .lock: description + " is gone"
    case .disk: "the outbox can be written, and its disk has room"
    case .memory: "there is memory again"
    }
  }

  /// The cause in words, e.g. `deploy.lock (until the backup is done)`.
  package var description: String {
    let what =
      switch self {
      case .lock(let lock): lock.name
      case .disk, .memory: kind
      }
    return reason.map { "\(what) (\($0))" } ?? what
  }
}
