import Glibc
import Model
import System

/// The folder `DIR.part`, in which shards are written, and which becomes `DIR` when it is complete.
///
/// It has a file that is locked while a process writes it, also after it has got its name, so that of two processes one ends with
/// `StopError.busy` and touches nothing. What a killed process left is emptied and used.
final class PartFolder {
  let folder: OpenFolder

  private let parent: OpenFolder
  private let name: String
  private let partName: String
  private let lock: OpenFile

  /// The permissions of the empty folder that it replaces; nil when there is none.
  private let mode: mode_t?
  private var isComplete = false

  private static let lockFile = ".split"

  /// - Parameter target: `DIR`, absolute.
  /// - Throws: `StopError.busy` while another process writes it; `StopError.outbox` when it cannot be created, or something else is in
  ///   the way.
  convenience init(for target: String) throws {
    let (name, partName) = (Folder.name(of: target), Folder.name(of: target) + ".part")
    do {
      let parent = try OpenFolder(Folder.parent(of: target))
      let mode = try Self.mode(of: name, in: parent)
      let folder = try parent.create(partName).folder
      let lock = try Self.take(folder, partName, in: parent)
      try Self.empty(folder)
      self.init(folder, parent: parent, name: name, partName: partName, lock: lock, mode: mode)
    } catch let error as SystemError {
      throw StopError.outbox("\(error)")
    }
  }

  private init(
    _ folder: OpenFolder, parent: OpenFolder, name: String, partName: String, lock: OpenFile, mode: mode_t?
  ) {
    (self.folder, self.parent, self.name, self.partName) = (folder, parent, name, partName)
    (self.lock, self.mode) = (lock, mode)
  }

  deinit {
    guard !isComplete else { return }
    try? Self.empty(folder)
    try? folder.remove(Self.lockFile)
    parent.removeIfEmpty(partName)
  }

  /// Gives it its name, durably.
  /// - Throws: `StopError.outbox`.
  func complete() throws {
    do {
      if let mode, fchmod(folder.descriptor, mode) != 0 { throw SystemError("fchmod", folder.path) }
      try folder.sync()
      try parent.rename(partName, to: parent, as: name)
      isComplete = true
      try parent.sync()
      // One that a crash leaves is in nobody's way.
      try folder.remove(Self.lockFile)
      try folder.sync()
    } catch let error as SystemError {
      throw StopError.outbox("\(error)")
    }
  }

  /// - Throws: `StopError.outbox` unless `DIR` can be created, or is an empty folder.
  static func check(_ target: String) throws {
    guard target != "/" else { throw StopError.outbox("/ is not a folder for shards: name a new one") }
    do {
      _ = try mode(of: Folder.name(of: target), in: OpenFolder(Folder.parent(of: target)))
    } catch let error as SystemError {
      throw StopError.outbox("\(error)")
    }
  }

  /// Finds out whether a folder may be created or replaced.
  /// - Returns: The permissions of the empty folder that is there; nil when there is none.
  private static func mode(of name: String, in parent: OpenFolder) throws -> mode_t? {
    guard let status = try parent.status(of: name) else { return nil }
    let path = parent.path + "/" + name
    guard status.kind == .folder else { throw StopError.outbox("\(path) exists, and is no folder") }
    guard try parent.folder(name).names().isEmpty else {
      throw StopError.outbox("\(path) is not empty: name a new folder")
    }
    guard status.identity.device == (try parent.status()).identity.device else {
      throw StopError.outbox("\(path) is a mount point: name a folder in it")
    }
    return mode_t(status.mode & 0o7777)
  }

  /// Takes the lock of the folder, which is empty or has been left by a process that was killed.
  private static func take(_ folder: OpenFolder, _ partName: String, in parent: OpenFolder) throws -> OpenFile {
    let names = try folder.names()
    guard names.isEmpty || names.contains(FileName(lockFile)) else {
      throw StopError.outbox("\(folder.path) is in the way, and is no unfinished split: rename or remove it")
    }
    let lock = try folder.open(updating: lockFile)
    guard try lock.lockExclusively() else { throw StopError.busy(folder: folder.path, process: nil) }
    // Another process may have completed it since it was opened.
    let isSame = try parent.status(of: partName)?.identity.isSameNode(as: folder.status().identity) ?? false
    guard isSame else {
      try? folder.remove(lockFile)
      throw StopError.taken("\(parent.path)/\(partName) was completed by another process: try again")
    }
    return lock
  }

  /// Removes what a split writes: folders of files, and files.
  private static func empty(_ folder: OpenFolder) throws(SystemError) {
    for name in try folder.names() where name != FileName(lockFile) {
      let name = name.text ?? "\(name)"
      guard try folder.status(of: name)?.kind == .folder else {
        try folder.remove(name)
        continue
      }
      let shard = try folder.folder(name)
      for file in try shard.names() { try shard.remove(file.text ?? "\(file)") }
      try folder.removeFolder(name)
    }
  }
}
