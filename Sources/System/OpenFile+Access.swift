import Foundation
import Glibc

/// Who may read and write a file.
extension OpenFile {
  /// Sets who may read and write the file. Where it cannot have the group, because this user is not one of its members, the
  /// group gets no permissions: its file's group is another then. Its owner may read it in any case.
  /// - Parameters:
  ///   - mode: Of its bits those for reading, writing and executing count.
  ///   - group: nil to leave the group as it is.
  /// - Throws: `SystemError`, also where the file system knows no modes (CIFS).
  package func setAccess(mode: Int, group: Int? = nil) throws(SystemError) {
    var mode = mode_t(truncatingIfNeeded: mode) & 0o777 | 0o400
    if let group, try status().group != group, !give(to: uid_t.max, group: group) {
      guard [EPERM, EINVAL, ENOTSUP, ENOSYS].contains(errno) else { throw SystemError("fchown", path) }
      mode &= ~0o070
    }
    guard uninterrupted({ fchmod(descriptor, mode) }) == 0 else { throw SystemError("fchmod", path) }
  }

  /// Sets the permissions that new files get: 0666 less the umask.
  /// - Throws: `SystemError`, also where the file system knows no modes (CIFS).
  package func makePublic() throws(SystemError) { try setAccess(mode: Int(0o666 & ~Umask.current)) }

  /// Gives the file to a user and a group, as root may. The user `uid_t.max` is the present one.
  /// - Returns: Whether it could be done; `errno` tells why not.
  package func give(to owner: uid_t, group: Int) -> Bool {
    uninterrupted { fchown(descriptor, owner, gid_t(truncatingIfNeeded: group)) } == 0
  }
}

/// The process's umask, which nothing here changes.
package enum Umask {
  /// Read from `/proc`: the system call sets another one, which files would get that other threads create meanwhile. Where that
  /// is missing, 077.
  package static let current: mode_t = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    return line.flatMap { mode_t($0.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8) } ?? 0o077
  }()
}
