import Glibc
import Inbox
import Model
import System

/// A lock in an inbox, for commands that create and remove it. It suspends the queues of the instance.
package struct LockFile {
  private let inbox: String
  private let name: String

  /// - Parameters:
  ///   - inbox: The inbox's path.
  ///   - name: The lock's name, which ends in `.lock`.
  package init(inbox: String, name: String) {
    self.inbox = inbox
    self.name = name
  }

  package var path: String { inbox + "/" + name }

  // MARK: Creating

  /// The result of creating a lock.
  package enum Creation: Equatable {
    case made
    /// The lock existed.
    case found
    /// The lock existed, and keeps its reason, which is another one.
    case foundReason(String)
    /// The lock existed, and cannot have a reason because it is a folder.
    case foundFolder
  }

  /// Creates the lock. It appears together with its reason. A killed process leaves no other file, on file systems that
  /// support unnamed files. An existing lock keeps its reason, which may be another party's, and gets one if it has none.
  /// - Parameter reason: The first line of the file; nil for none.
  package func create(reason: String?) throws(SystemError) -> Creation {
    let folder = try OpenFolder(inbox)
    let text = reason.map { String($0.map { $0.isNewline ? " " : $0 }) + "\n" } ?? ""
    // Other processes may create and remove it at the same time.
    for _ in 0..<100 {
      guard let found = try folder.status(of: name) else {
        if try make(text, in: folder) { return .made }
        continue
      }
      if reason == nil { return .found }
      if found.kind == .folder { return .foundFolder }
      if let kept = Lock(name: name, path: path).reason {
        return Lock.shown(text) == kept ? .found : .foundReason(kept)
      }
      if found.kind == .file, found.links == 1, try rewrite(text, in: folder, found) { return .found }
      if try folder.status(of: name)?.identity.isSameNode(as: found.identity) == true {
        try replace(text, in: folder)
        return .found
      }
    }
    throw SystemError("create", path, code: EBUSY)
  }

  /// - Returns: Whether there was no lock.
  private func make(_ text: String, in folder: OpenFolder) throws(SystemError) -> Bool {
    if let file = try? folder.createNameless(mode: 0o666) {
      try file.write(text)
      do throws(SystemError) {
        try folder.name(file, as: name)
        return true
      } catch  where error.code == EEXIST {
        return false
      } catch  where error.code == ENOENT {
        // `/proc` is missing.
      }
    }
    return try withTemporary(text, in: folder) { (temporary) throws(SystemError) in
      try folder.renameWithoutReplacing(temporary, to: folder, as: name)
    }
  }

  /// Writes a new reason to the file. Any user who may write to the inbox can rename another file to this name, also
  /// one elsewhere that only this user may write.
  /// - Parameter found: The status of the file, which has one name.
  /// - Returns: False when the file cannot be written, was removed in the meantime, or is another one.
  func rewrite(_ text: String, in folder: OpenFolder, _ found: FileStatus) throws(SystemError) -> Bool {
    guard let file = try? folder.open(updatingExisting: name), let opened = try? file.status(), opened.links == 1,
      opened.identity.isSameNode(as: found.identity)
    else { return false }
    // The first line is complete at each moment.
    try file.write(text)
    try file.truncate(to: text.utf8.count)
    return try file.status().links > 0
  }

  /// Replaces a lock that cannot be written.
  private func replace(_ text: String, in folder: OpenFolder) throws(SystemError) {
    try withTemporary(text, in: folder) { (temporary) throws(SystemError) in
      try folder.rename(temporary, to: folder, as: name)
    }
  }

  private func withTemporary<T>(
    _ text: String, in folder: OpenFolder, _ body: (String) throws(SystemError) -> T
  ) throws(SystemError) -> T {
    let temporary = ".darkroom-pause-" + RunID.make()
    defer { try? folder.remove(temporary) }
    try folder.create(file: temporary).write(text)
    return try body(temporary)
  }

  // MARK: Removing

  /// Removes the lock, which may be a folder. If none has exactly this name, one whose extension is in another case is
  /// removed, unless there are several. The file `lock` matches the bare name.
  /// - Returns: The path of the removed lock; nil when there was none.
  /// - Throws: `StopError.outbox` for a folder that is not empty; `SystemError`.
  package func remove() throws -> String? {
    let folder = try OpenFolder(inbox)
    guard let name = try findName(in: folder), let found = try folder.status(of: name) else { return nil }
    let path = inbox + "/" + name
    guard found.kind == .folder else {
      try folder.remove(name)
      return path
    }
    do {
      try folder.removeFolder(name)
    } catch {
      guard error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
      throw StopError.outbox("\(path) is a folder that is not empty, so it stays: remove what is in it first")
    }
    return path
  }

  /// The lock's actual name in the inbox.
  private func findName(in folder: OpenFolder) throws(SystemError) -> String? {
    if try folder.status(of: name) != nil { return name }
    let stem = name.dropping(bytesOfSuffix: Self.ending)
    let found = try folder.names().compactMap(\.text).filter { other in
      let lowered = other.lowercased()
      if lowered == "lock" { return other.isIdentical(to: stem) }
      return lowered.ends(with: Self.ending) && other.dropping(bytesOfSuffix: Self.ending).isIdentical(to: stem)
    }
    return found.count == 1 ? found[0] : nil
  }

  private static let ending = ".lock"
}
