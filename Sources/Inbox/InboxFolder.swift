import Glibc
import Synchronization
import System

/// The open folder of the inbox. Another folder under its path, as when a share is not mounted, is not accepted. When
/// the share is mounted again, possibly with another device number, the instance file that this process wrote
/// identifies it.
final class InboxFolder: Sendable {
  private struct Held {
    var folder: OpenFolder
    var identity: FileIdentity
    var lock: InstanceLock?
  }

  private let path: String
  private let held: Mutex<Held>

  init(_ path: String) throws(SystemError) {
    self.path = path
    let folder = try OpenFolder(path)
    held = Mutex(Held(folder: folder, identity: try folder.status().identity))
  }

  /// The inbox, also when another folder has its path.
  var current: OpenFolder { held.withLock { $0.folder } }

  /// Locks the inbox, so that this process is its only instance.
  /// - Returns: Why the instance file cannot be used; nil when it can.
  /// - Throws: `StopError.busy`, `SystemError`.
  func own() throws -> String? {
    let lock = try InstanceLock(Inbox.instanceFile, in: current, isHostile: true)
    held.withLock { $0.lock = lock }
    return lock.trouble
  }

  /// The notes in the inbox's instance file; empty when there is none.
  var notes: String { held.withLock { $0.lock }?.notes ?? "" }

  func note(_ lines: String) throws(SystemError) { try held.withLock { $0.lock }?.note(lines) }

  /// Whether the instance file that this process wrote is in the open folder.
  var hasInstanceFile: Bool {
    let held = held.withLock { $0 }
    return held.lock?.isHeld(in: held.folder) == true
  }

  /// The inbox, if its path still names it.
  /// - Throws: `SystemError`, with `ESTALE` when another folder has the path.
  func present() throws(SystemError) -> OpenFolder {
    let held = held.withLock { $0 }
    let found = try FileStatus(of: path).identity
    if found.isSameNode(as: held.identity) { return held.folder }
    guard let lock = held.lock, let folder = try? OpenFolder(path), let status = try? folder.status(),
      status.identity.isSameNode(as: found), lock.isHeld(in: folder)
    else { throw SystemError("another folder is in its place", path, code: ESTALE) }
    // The lock of the old folder may apply to the new one, as on a share.
    let new = (try? InstanceLock(Inbox.instanceFile, in: folder, isHostile: true)) ?? lock
    self.held.withLock { $0 = Held(folder: folder, identity: status.identity, lock: new) }
    return folder
  }
}
