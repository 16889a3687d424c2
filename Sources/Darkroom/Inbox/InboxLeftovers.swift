import Glibc
import System

/// Removes what commands that were killed left in the inbox.
enum InboxLeftovers {
  /// What the names of files begin with that commands write before they get their own names.
  static let prefixes = [".darkroom-add-", ".darkroom-pause-", ".darkroom-owner-", Inbox.instanceFile + "-"]

  /// How old they are, in seconds, when no command can be writing them any more.
  static let age = 3600.0

  /// Whether a name is that of such a file.
  static func isOne(_ name: FileName) -> Bool { prefixes.contains { name.bytes.starts(with: $0.utf8) } }

  /// Removes those that are files of this process's user and old. What cannot be removed stays.
  /// - Parameter now: Seconds since 1970.
  static func remove(_ names: [FileName], from folder: OpenFolder, now: Double = Clock.wallSeconds) {
    for name in names.compactMap(\.text) {
      guard let status = try? folder.status(of: name), status.kind == .file,
        now - status.identity.modified.sinceEpoch > age, status.owner == geteuid()
      else { continue }
      try? folder.remove(name)
    }
  }
}
