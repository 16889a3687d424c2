import Foundation
import Glibc

/// Who may read and write a file.
extension OpenFile {
  /// Sets who may read and write the file. If this user is not a member of the group, the file keeps its own group, and that gets
  /// no permissions. Its owner may read it in any case.
  /// - Parameters:
  ///   - mode: Only its bits for reading, writing and executing count.
  ///   - group: nil to leave the group as it is.
  /// - Throws: `SystemError`, also where the file system has no modes (CIFS).
  package func setAccess(mode: Int, group: Int? = nil) throws(SystemError) {
    var mode = mode_t(truncatingIfNeeded: mode) & 0o777 | 0o400
    if let group, try status().group != group, !give(to: uid_t.max, group: group) {
      guard [EPERM, EINVAL, ENOTSUP, ENOSYS].contains(errno) else { throw SystemError("fchown", path) }
      mode &= ~0o070
    }
    guard uninterrupted({ fchmod(descriptor, mode) }) == 0 else { throw SystemError("fchmod", path) }
  }

  /// Sets the permissions that new files get: 0666 less the umask.
  /// - Throws: `SystemError`, also where the file system has no modes (CIFS).
  package func makePublic() throws(SystemError) { try setAccess(mode: Int(0o666 & ~Umask.current)) }

  /// Gives the file to a user and a group, as root may. The user `uid_t.max` is the current one.
  /// - Returns: Whether it succeeded; if not, `errno` has the reason.
  package func give(to owner: uid_t, group: Int) -> Bool {
    uninterrupted { fchown(descriptor, owner, gid_t(truncatingIfNeeded: group)) } == 0
  }
}

/// The process's umask, which this program never changes.
package enum Umask {
  /// Read from `/proc`: the system call would set another one, which files created by other threads meanwhile would get. 077
  /// where `/proc` is missing.
  package static let current: mode_t = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    return line.flatMap { mode_t($0.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8) } ?? 0o077
  }()
}
