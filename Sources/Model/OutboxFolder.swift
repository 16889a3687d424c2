import Glibc
import System
import Transfer

/// Where things lie in the outbox.
package struct OutboxFolder: Sendable {
  package let path: String

  /// The folder, held open; nil for those who only look.
  package var handle: OpenFolder?

  package init(path: String, handle: OpenFolder? = nil) {
    self.path = path
    self.handle = handle
  }

  /// What is not for users: staging, and by default the state. Others may go through it to `status.json`, and see nothing
  /// else.
  package var hidden: String { path + "/.darkroom" }

  /// What the instance is doing, for every user who may read the outbox.
  package static let statusName = "status.json"

  /// The path of something in the hidden folder, relative to the outbox.
  package static func hidden(_ name: String) -> String { ".darkroom/" + name }

  /// Staging for those who keep their ledger in a state folder; another ledger's files are none of our business.
  package func staging(of state: StateFolder) -> String {
    hidden + "/" + stagingName(of: state)
  }

  /// The same, relative to `hidden`.
  package func stagingName(of state: StateFolder) -> String {
    let digest = MessageDigest()
    Array(state.path.utf8).withUnsafeBytes(digest.update)
    return "staging/" + digest.hexDigest().prefix(8)
  }

  /// The file that says which process owns the outbox.
  package static let instanceName = "instance"

  package func job(_ name: String) -> JobFolder { JobFolder(path: path + "/" + name, name: name, outbox: handle) }

  /// The folder itself.
  package func open() throws(SystemError) -> OpenFolder {
    if let handle { return handle }
    return try OpenFolder(path)
  }

  /// Syncs the folder, or one beneath it.
  /// - Parameter path: As that begins with the outbox's.
  func sync(_ path: String) throws(SystemError) {
    try open().syncFolder(String(Substring(path.utf8.dropFirst(self.path.utf8.count + 1))))
  }

  /// The same for a folder that somebody may have taken away, or put something else in its place.
  package func syncIfThere(_ path: String) throws(SystemError) {
    do throws(SystemError) {
      try sync(path)
    } catch  where error.cause == .missing || error.cause == .occupied {
      return
    }
  }

  /// Opens the hidden folder, and creates it when it is missing.
  /// - Throws: `StopError.outbox` when its name is a symbolic link's, or it is another user's; `SystemError`.
  package func openHidden() throws -> OpenFolder {
    let outbox = try OpenFolder(path)
    let name = Folder.name(of: hidden)
    if let kind = try outbox.status(of: name)?.kind, kind != .folder {
      throw StopError.outbox("\(hidden) is a \(kind == .link ? "symbolic link" : "\(kind)"): move it away")
    }
    let (folder, changed) = try outbox.create(name, mode: 0o711)
    for path in changed { try Folder.sync(path) }
    guard try outbox.isOurs(folder.status()) else {
      throw StopError.outbox("\(hidden) is another user's: start the program as that user, or use another outbox")
    }
    // Whatever the umask. Where a file system has no permissions there is nothing to do.
    if try folder.status().mode != 0o711 { try? folder.setMode(0o711) }
    return folder
  }
}
