import Glibc
import Model
import System

/// The file whose lock makes a process the instance.
struct InstanceFile {
  private let name: String
  private let folder: OpenFolder

  init(_ name: String, in folder: OpenFolder) {
    self.name = name
    self.folder = folder
  }

  /// Opens or creates the file and locks it.
  /// - Returns: The locked file, which still has the name.
  /// - Throws: `SystemError`, with `EBUSY` when another process holds the lock, and `EPERM` when the file belongs to
  ///   another user.
  func lock() throws(SystemError) -> OpenFile {
    for _ in 0..<100 {
      let file = try folder.open(updating: name, mode: 0o600)
      let status = try file.status()
      // The file was removed after it was opened.
      if status.links == 0 { continue }
      guard folder.isOurs(status) else { throw SystemError("it is another user's", file.path, code: EPERM) }
      if try file.lockExclusively() {
        // With a second name it may be any file of this user, and must not be written.
        if status.links > 1 {
          if let replaced = try replace(file) { return replaced }
        } else if try isNamed(file) {
          if status.isOpenToOthers { try file.makePrivate() }
          return file
        }
      } else if try file.lockHolder() == .reader {
        if let replaced = try replace(file) { return replaced }
      } else if try isNamed(file) {
        throw SystemError("lock", file.path, code: EBUSY)
      }
    }
    throw SystemError("lock", folder.path + "/" + name, code: EBUSY)
  }

  private func isNamed(_ file: OpenFile) throws(SystemError) -> Bool {
    guard let found = try folder.status(of: name) else { return false }
    return try found.identity.isSameNode(as: file.status().identity)
  }

  /// Replaces the file with a new, locked one, when it has other names too, or when its lock is held by a process that
  /// opened it for reading before it was private. An instance opens it for writing.
  /// - Returns: nil when another file had taken the name. That file keeps it.
  private func replace(_ old: OpenFile) throws(SystemError) -> OpenFile? {
    let unused = "\(name)-\(RunID.make())"
    let new = try folder.create(file: unused, mode: 0o600)
    defer { try? folder.remove(unused) }
    guard try new.lockExclusively() else { return nil }
    try folder.exchange(unused, with: name)
    let taken = try folder.status(of: unused)?.identity
    if try taken?.isSameNode(as: old.status().identity) == true, try isNamed(new) { return new }
    if taken != nil { try folder.exchange(unused, with: name) }
    return nil
  }
}
