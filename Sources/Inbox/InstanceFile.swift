import Glibc
import Model
import System

/// The file whose lock an instance holds.
struct InstanceFile {
  private let name: String
  private let folder: OpenFolder

  init(_ name: String, in folder: OpenFolder) {
    self.name = name
    self.folder = folder
  }

  /// Opens the file, or creates it, and takes its lock.
  /// - Returns: The file, which has the name still.
  /// - Throws: `SystemError`: `EBUSY` when another process holds the lock; `EPERM` when the file is another user's.
  func lock() throws(SystemError) -> OpenFile {
    for _ in 0..<100 {
      let file = try folder.open(updating: name, mode: 0o600)
      let status = try file.status()
      // It was removed meanwhile.
      if status.links == 0 { continue }
      guard folder.isOurs(status) else { throw SystemError("it is another user's", file.path, code: EPERM) }
      if try file.lockExclusively() {
        // With another name it may be any file of ours, and is not to be written to.
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

  /// Puts a locked file in the place of one that has other names, too, or whose lock is held by someone who could open it for
  /// reading before it was private. An instance would hold it for writing.
  /// - Returns: nil when something else had the name by then, which has it still.
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
