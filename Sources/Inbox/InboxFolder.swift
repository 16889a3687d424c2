import Glibc
import Synchronization
import System

/// The inbox, held open. Another folder under its path, as when a share is not mounted, is not the inbox; when that is
/// mounted again, perhaps under another device number, the file that this process wrote into it tells that it is.
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

  /// The inbox, also while another folder has its path.
  var current: OpenFolder { held.withLock { $0.folder } }

  /// Becomes the one instance on the inbox.
  /// - Returns: Why the file that says so cannot be used; nil when it can.
  /// - Throws: `StopError.busy`, `SystemError`.
  func own() throws -> String? {
    let lock = try InstanceLock(Inbox.instanceFile, in: current, isHostile: true)
    held.withLock { $0.lock = lock }
    return lock.trouble
  }

  /// What processes have noted in the inbox's instance file; empty when there is none.
  var notes: String { held.withLock { $0.lock }?.notes ?? "" }

  func note(_ lines: String) throws(SystemError) { try held.withLock { $0.lock }?.note(lines) }

  /// Whether the instance file that this process wrote is in the folder that it holds open.
  var hasInstanceFile: Bool {
    let held = held.withLock { $0 }
    return held.lock?.isHeld(in: held.folder) == true
  }

  /// The inbox, if its path leads to it.
  /// - Throws: `SystemError`: `ESTALE` when there is another folder.
  func present() throws(SystemError) -> OpenFolder {
    let held = held.withLock { $0 }
    let found = try FileStatus(of: path).identity
    if found.isSameNode(as: held.identity) { return held.folder }
    guard let lock = held.lock, let folder = try? OpenFolder(path), let status = try? folder.status(),
      status.identity.isSameNode(as: found), lock.isHeld(in: folder)
    else { throw SystemError("another folder is in its place", path, code: ESTALE) }
    // The lock of the old folder may hold in the new one, as on a share.
    let new = (try? InstanceLock(Inbox.instanceFile, in: folder, isHostile: true)) ?? lock
    self.held.withLock { $0 = Held(folder: folder, identity: status.identity, lock: new) }
    return folder
  }
}
