import Glibc
import Inbox
import Model
import System

/// A lock in an inbox, for those who make and remove it: it suspends the queues of whatever instance works there.
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

  /// Whether an instance works in the inbox now; nil when this user may not know.
  package var isWatched: Bool? {
    do {
      return try InstanceLock.holder(file: Inbox.instanceFile, beneath: inbox) != nil
    } catch {
      return nil
    }
  }

  // MARK: Making it

  /// What has come of making a lock.
  package enum Creation {
    case made
    /// It was there.
    case found
    /// It was there, and can hold no reason, because it is a folder.
    case foundFolder
  }

  /// Makes the lock. It appears with its reason, never without, and a process that is killed meanwhile leaves nothing else
  /// where the file system has files without names. One that is there keeps its reason unless there is a new one.
  /// - Parameter reason: Its first line; nil for none.
  package func create(reason: String?) throws(SystemError) -> Creation {
    let folder = try OpenFolder(inbox)
    let text = reason.map { String($0.map { $0.isNewline ? " " : $0 }) + "\n" } ?? ""
    // Others may make and remove it meanwhile.
    for _ in 0..<100 {
      guard let found = try folder.status(of: name) else {
        if try make(text, in: folder) { return .made }
        continue
      }
      if reason == nil { return .found }
      if found.kind == .folder { return .foundFolder }
      if found.kind == .file, found.links == 1, try rewrite(text, in: folder, found) { return .found }
      if try folder.status(of: name)?.identity.isSameNode(as: found.identity) == true {
        try replace(text, in: folder)
        return .found
      }
    }
    throw SystemError("create", path, code: EBUSY)
  }

  /// - Returns: Whether there was none.
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

  /// Writes a new reason into the file. Whoever may write to the inbox can give the name to another file at any moment, also
  /// to one elsewhere that only this user may write to.
  /// - Parameter found: The file, with one name.
  /// - Returns: False when that cannot be done, the file was removed meanwhile, or is another.
  func rewrite(_ text: String, in folder: OpenFolder, _ found: FileStatus) throws(SystemError) -> Bool {
    guard let file = try? folder.open(updatingExisting: name), let opened = try? file.status(), opened.links == 1,
      opened.identity.isSameNode(as: found.identity)
    else { return false }
    // Its first line is whole at each moment.
    try file.write(text)
    try file.truncate(to: text.utf8.count)
    return try file.status().links > 0
  }

  /// Puts a new lock in the place of one that cannot be written to.
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

  // MARK: Removing it

  /// Removes the lock, which may be a folder. If there is none of exactly this name, one is taken for it whose ending is in
  /// another case, unless there are several; `lock` is the bare name, too.
  /// - Returns: The path of what was removed; nil when there was none.
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

  /// The name that the lock has in the inbox.
  private func findName(in folder: OpenFolder) throws(SystemError) -> String? {
    if try folder.status(of: name) != nil { return name }
    let stem = name.dropLast(Self.ending.count)
    let found = try folder.names().compactMap(\.text).filter { other in
      let lowered = other.lowercased()
      if lowered == "lock" { return stem == other }
      return lowered.hasSuffix(Self.ending) && other.dropLast(Self.ending.count) == stem
    }
    return found.count == 1 ? found[0] : nil
  }

  private static let ending = ".lock"
}
