import Ledger
import Manifests
import System

/// The paths of a job's files and folders.
package struct JobFolder: Sendable {
  package let path: String
  package let name: String

  /// The outbox's path.
  let root: String

  /// The open outbox; nil to open it each time.
  var outbox: OpenFolder?

  /// The outbox that has the job's pictures. Default: nil, they are in this folder.
  package var pictures: OpenFolder?

  /// - Parameter root: An ancestor of the folder. Default: its parent.
  init(
    path: String, name: String, root: String? = nil, outbox: OpenFolder? = nil, pictures: OpenFolder? = nil
  ) {
    self.path = path
    self.name = name
    self.root = root ?? Folder.parent(of: path)
    self.outbox = outbox
    self.pictures = pictures
  }

  package var report: String { path + "/report.json" }
  package var entriesLog: String { path + "/entries.jsonl" }
  package var failedManifest: String { path + "/" + name + ".failed.jsonl" }
  var history: String { path + "/history" }

  package func manifest(extension suffix: String) -> String { path + "/manifest." + suffix }

  /// Whether a name is that of the manifest that the job's folder keeps of the last run.
  package static func isManifest(_ name: String) -> Bool { ManifestFileName(name)?.stem == "manifest" }

  /// The path of a file or subfolder, from its path relative to the job's folder.
  package func file(_ target: String) -> String {
    guard let pictures, Artifact.Kind.hasFolder(of: target) else { return path + "/" + target }
    return "\(pictures.path)/\(name)/\(target)"
  }

  /// The relative path of a file that an entry delivers.
  /// - Parameters:
  ///   - name: The result's name, which is unique in the job whatever the format; for an original, the entry's.
  ///   - suffix: The extension. Default: that of files made from results.
  package static func path(of kind: Artifact.Kind, _ name: String, extension suffix: String = "jpg") -> String {
    "\(kind.folder)/\(name).\(suffix)"
  }
}

/// Opens the job's folder and its subfolders beneath the outbox. Symbolic links are not followed.
extension JobFolder {
  /// The outbox. It is never created: when it is missing, a share may not be mounted.
  private func openOutbox() throws(SystemError) -> OpenFolder {
    if let outbox { return outbox }
    return try OpenFolder(root)
  }

  /// The outbox that has a file or subfolder, and the path in it, from one relative to the job's folder.
  private func resolved(_ path: String) throws(SystemError) -> (outbox: OpenFolder, path: String) {
    if let pictures, Artifact.Kind.hasFolder(of: path) { return (pictures, name + "/" + path) }
    let folder = String(Substring(self.path.utf8.dropFirst(root.utf8.count + 1)))
    return (try openOutbox(), path.isEmpty ? folder : folder + "/" + path)
  }

  /// Opens the folder or a subfolder.
  /// - Parameter subfolder: A relative path.
  package func open(_ subfolder: String = "") throws(SystemError) -> OpenFolder {
    let (outbox, path) = try resolved(subfolder)
    return try outbox.folder(path)
  }

  /// Opens the folder or a subfolder, and creates missing folders.
  /// - Parameter changed: Receives the paths of the folders to which an entry was added, also when an error is thrown.
  package func create(_ subfolder: String = "", changed: inout [String]) throws(SystemError) -> OpenFolder {
    let (outbox, path) = try resolved(subfolder)
    return try outbox.create(path, changed: &changed)
  }

  /// Opens the folder or a subfolder, and creates and syncs missing folders.
  package func createDurably(_ subfolder: String = "") throws(SystemError) -> OpenFolder {
    let (outbox, path) = try resolved(subfolder)
    let (folder, changed) = try outbox.create(path)
    for path in changed { try outbox.syncFolder(at: path) }
    return folder
  }

  /// Syncs the folder or a subfolder, if it exists.
  package func syncIfThere(_ subfolder: String) throws(SystemError) {
    do throws(SystemError) {
      let (outbox, path) = try resolved(subfolder)
      try outbox.syncFolder(path)
    } catch  where error.cause == .missing || error.cause == .occupied {
      return
    }
  }

  /// Opens a file for reading.
  /// - Parameter target: Its path relative to the job's folder.
  package func open(file target: String) throws(SystemError) -> OpenFile {
    let (outbox, path) = try resolved(target)
    return try outbox.open(reading: path)
  }

  /// The status of a path relative to the job's folder. Symbolic links are not followed.
  /// - Returns: nil when the path does not exist, or a component of it is not a folder.
  package func status(of target: String) throws(SystemError) -> FileStatus? {
    do throws(SystemError) {
      let (outbox, path) = try resolved(target)
      return try outbox.status(of: path)
    } catch  where error.cause == .missing || error.cause == .occupied {
      return nil
    }
  }

  /// Whether nothing has a path relative to the job's folder; false when that is unknown.
  package func isFree(_ target: String) -> Bool {
    do {
      return try status(of: target) == nil
    } catch {
      return false
    }
  }

  /// Whether a path relative to the job's folder names a regular file with these contents.
  /// - Parameter sha256: In lower-case hexadecimal.
  package func holds(_ target: String, bytes: Int, sha256: String) throws(SystemError) -> Bool {
    let (outbox, path) = try resolved(target)
    return try outbox.holds(path, bytes: bytes, sha256: sha256)
  }

  /// Whether a delivered file exists under its final name, unchanged.
  package func holds(_ delivery: Delivery) throws(SystemError) -> Bool {
    try holds(delivery.target, bytes: delivery.bytes, sha256: delivery.sha256)
  }

  /// The file that has the name of a result.
  /// - Parameter target: Its path relative to the job's folder. The other parameters are those of `ExistingFile`.
  package func existingFile(
    of target: String, bytes: Int, sha256: String, known: LedgerOutput?, staging: Staging
  ) throws(SystemError) -> ExistingFile? {
    let (outbox, path) = try resolved(target)
    return try ExistingFile(path, in: outbox, bytes: bytes, sha256: sha256, known: known, staging: staging)
  }

  /// Creates the job's folder if it is missing.
  /// - Parameter changed: Receives the paths of the folders to which an entry was added, also when an error is thrown.
  /// - Throws: `FolderObstacle` when the folder is a symbolic link or a file, one of its standard subfolders is a
  ///   symbolic link, its history or the log is something else, or a folder is on another file system than the outbox, so that
  ///   nothing can be moved there; `SystemError`.
  package func prepare(changed: inout [String]) throws -> OpenFolder {
    let outbox = try openOutbox()
    if let kind = try outbox.status(of: Folder.name(of: path))?.kind, kind != .folder {
      throw FolderObstacle(path: path, kind: kind)
    }
    if let pictures { try checkPictures(in: pictures) }
    let folder = try create(changed: &changed)
    if !changed.isEmpty { return folder }
    try outbox.checkMount(Folder.name(of: path))
    for name in Artifact.Kind.allCases.map(\.folder) + ["history"] {
      guard let kind = try folder.status(of: name)?.kind else { continue }
      if kind == .link || name == "history" && kind != .folder {
        throw FolderObstacle(path: path + "/" + name, kind: kind)
      }
      // Originals and previews may not be made.
      if [Artifact.Kind.result.folder, "history"].contains(name) { try folder.checkMount(name) }
    }
    if let kind = try folder.status(of: Folder.name(of: entriesLog))?.kind, kind != .file {
      throw FolderObstacle(path: entriesLog, kind: kind)
    }
    return folder
  }
}

extension JobFolder {
  /// - Throws: `FolderObstacle` when the folder for the job's pictures, or one of its standard subfolders, is something else;
  ///   `SystemError`.
  private func checkPictures(in outbox: OpenFolder) throws {
    guard let kind = try outbox.status(of: name)?.kind else { return }
    guard kind == .folder else { throw FolderObstacle(path: "\(outbox.path)/\(name)", kind: kind) }
    try outbox.checkMount(name)
    let folder = try outbox.folder(name)
    for subfolder in Artifact.Kind.allCases.map(\.folder) {
      guard let kind = try folder.status(of: subfolder)?.kind else { continue }
      guard kind == .folder else { throw FolderObstacle(path: "\(folder.path)/\(subfolder)", kind: kind) }
      if subfolder == Artifact.Kind.result.folder { try folder.checkMount(subfolder) }
    }
  }
}

extension OpenFolder {
  /// - Throws: `FolderObstacle` when a folder is on another file system, so that nothing can be moved there; `SystemError`.
  fileprivate func checkMount(_ name: String) throws {
    guard try !isOnSameMount(name) else { return }
    throw FolderObstacle(path: path + "/" + name, kind: .folder, isMount: true)
  }

  /// Syncs a folder beneath it, or itself. Opens it, since a failed sync must not be repeated on a descriptor.
  func syncFolder(_ path: String) throws(SystemError) { try folder(path.isEmpty ? "." : path).sync() }

  /// Syncs a folder beneath it, or itself.
  /// - Parameter path: A path that begins with its own.
  func syncFolder(at path: String) throws(SystemError) {
    try syncFolder(String(Substring(path.utf8.dropFirst(self.path.utf8.count + 1))))
  }
}

/// The name of the job's folder, a subfolder or the log is taken by something else, which prevents the job from
/// beginning. The obstacle is left unchanged.
struct FolderObstacle: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path of the obstacle.
  let path: String

  let kind: FileStatus.Kind

  /// Whether it is on another file system than the outbox.
  var isMount = false

  var description: String {
    if isMount {
      return
        "\(path) is on another file system than the outbox, so that nothing can be moved there: unmount it, or take it as "
        + "the outbox"
    }
    let what =
      switch kind {
      case .link: "a symbolic link"
      case .other: "something unknown"
      default: "a \(kind)"
      }
    return "\(path) is \(what), and is left as it is: move it away"
  }
}
