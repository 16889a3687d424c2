import System

/// The paths of files and folders in the outbox.
package struct OutboxFolder: Sendable {
  package let path: String

  /// The open folder; nil for commands that only read the outbox.
  package var handle: OpenFolder?

  /// The outbox that has the pictures of all jobs. Default: nil, this one.
  package let pictures: OpenFolder?

  package init(path: String, handle: OpenFolder? = nil, pictures: OpenFolder? = nil) {
    self.path = path
    self.handle = handle
    self.pictures = pictures
  }

  /// The folder for internal files: staging and, by default, the state. Other users can read only `status.json` in it.
  package var hidden: String { path + "/.darkroom" }

  /// The file with the instance's status, for all users who may read the outbox.
  package static let statusName = "status.json"

  /// The path of a file in the hidden folder, relative to the outbox.
  package static func hidden(_ name: String) -> String { ".darkroom/" + name }

  /// The file that names the process that owns the outbox.
  package static let instanceName = "instance"

  package func job(_ name: String) -> JobFolder {
    JobFolder(path: path + "/" + name, name: name, outbox: handle, pictures: pictures)
  }

  /// Opens the folder.
  package func open() throws(SystemError) -> OpenFolder {
    if let handle { return handle }
    return try OpenFolder(path)
  }

  /// Syncs the folder, or one beneath it.
  /// - Parameter path: A path that begins with the outbox's, or with that of the outbox for pictures.
  func sync(_ path: String) throws(SystemError) {
    if let pictures, Folder.path(path, in: pictures.path) != nil {
      try pictures.syncFolder(at: path)
    } else {
      try open().syncFolder(String(Substring(path.utf8.dropFirst(self.path.utf8.count + 1))))
    }
  }

  /// Syncs a folder, if it exists and is a folder.
  package func syncIfThere(_ path: String) throws(SystemError) {
    do throws(SystemError) {
      try sync(path)
    } catch  where error.cause == .missing || error.cause == .occupied {
      return
    }
  }

  /// Opens the hidden folder, and creates it when it is missing.
  /// - Throws: `StopError.outbox` when the name is taken by a symbolic link or by another file, or the folder belongs
  ///   to another user; `SystemError`.
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
    // Set regardless of the umask. File systems without permissions refuse it.
    if try folder.status().mode != 0o711 { try? folder.setMode(0o711) }
    return folder
  }
}
