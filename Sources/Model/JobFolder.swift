import Glibc
import Ledger
import Manifests
import System

/// Where the things of one job lie.
package struct JobFolder: Sendable {
  package let path: String
  package let name: String

  /// The outbox's path.
  let root: String

  /// The outbox, held open; nil to open it anew each time.
  var outbox: OpenFolder?

  /// - Parameter root: A folder above it. Default: the one above.
  init(path: String, name: String, root: String? = nil, outbox: OpenFolder? = nil) {
    self.path = path
    self.name = name
    self.root = root ?? Folder.parent(of: path)
    self.outbox = outbox
  }

  package var report: String { path + "/report.json" }
  package var entriesLog: String { path + "/entries.jsonl" }
  package var failedManifest: String { path + "/" + name + ".failed.jsonl" }
  var history: String { path + "/history" }

  package func manifest(extension suffix: String) -> String { path + "/manifest." + suffix }

  /// Whether a file of the folder is the manifest of the run that ended last.
  package static func isManifest(_ name: String) -> Bool { ManifestFileName(name)?.stem == "manifest" }

  /// The path of something whose path is relative to the job's folder.
  package func file(_ target: String) -> String { path + "/" + target }

  /// The relative path of a file that an entry delivers.
  /// - Parameters:
  ///   - name: Of the result; no other of the job has it, whatever its format. For an original, the entry's.
  ///   - suffix: Default: that of what is made of a result.
  package static func path(of kind: Artifact.Kind, _ name: String, extension suffix: String = "jpg") -> String {
    "\(kind.folder)/\(name).\(suffix)"
  }
}

/// The job's folder and those in it, opened beneath the outbox: no symbolic link is followed.
extension JobFolder {
  /// The outbox. It is never created: when it is missing, a share may not be mounted.
  private func openOutbox() throws(SystemError) -> OpenFolder {
    if let outbox { return outbox }
    return try OpenFolder(root)
  }

  /// The path of something beneath the outbox.
  private func beneath(_ path: String) -> String {
    let folder = relative(self.path)
    return path.isEmpty ? folder : folder + "/" + path
  }

  private func relative(_ path: String) -> String { String(Substring(path.utf8.dropFirst(root.utf8.count + 1))) }

  /// Opens the folder, or one in it.
  /// - Parameter subfolder: A relative path.
  package func open(_ subfolder: String = "") throws(SystemError) -> OpenFolder {
    try openOutbox().folder(beneath(subfolder))
  }

  /// Opens the folder, or one in it, and creates what is missing.
  /// - Parameter changed: Gets the paths of those that got a new name in them, also when an error is thrown.
  package func create(_ subfolder: String = "", changed: inout [String]) throws(SystemError) -> OpenFolder {
    try openOutbox().create(beneath(subfolder), changed: &changed)
  }

  /// Opens the folder, or one in it, and creates and syncs what is missing.
  package func createDurably(_ subfolder: String = "") throws(SystemError) -> OpenFolder {
    var changed: [String] = []
    let folder = try create(subfolder, changed: &changed)
    for path in changed { try openOutbox().syncFolder(relative(path)) }
    return folder
  }

  /// Syncs the folder, or one in it, if it is still there.
  package func syncIfThere(_ subfolder: String) throws(SystemError) {
    do throws(SystemError) {
      try openOutbox().syncFolder(beneath(subfolder))
    } catch  where error.cause == .missing || error.cause == .occupied {
      return
    }
  }

  /// Opens a file for reading.
  /// - Parameter target: Its path relative to the job's folder.
  package func open(file target: String) throws(SystemError) -> OpenFile {
    try openOutbox().open(reading: beneath(target))
  }

  /// What a path relative to the job's folder stands for, a symbolic link for itself.
  /// - Returns: nil when there is nothing, also because something else has the name of a folder on the way.
  package func status(of target: String) throws(SystemError) -> FileStatus? {
    do throws(SystemError) {
      return try openOutbox().status(of: beneath(target))
    } catch  where error.cause == .missing || error.cause == .occupied {
      return nil
    }
  }

  /// Whether a path relative to the job's folder is that of a regular file with these contents.
  /// - Parameter sha256: In lower-case hexadecimal.
  package func holds(_ target: String, bytes: Int, sha256: String) throws(SystemError) -> Bool {
    try openOutbox().holds(beneath(target), bytes: bytes, sha256: sha256)
  }

  /// Whether a file has its final name, and is what was delivered.
  package func holds(_ delivery: Delivery) throws(SystemError) -> Bool {
    try holds(delivery.target, bytes: delivery.bytes, sha256: delivery.sha256)
  }

  /// What has the name of a result.
  /// - Parameter target: Its path relative to the job's folder. The other parameters are those of `ExistingFile`.
  package func existingFile(
    of target: String, bytes: Int, sha256: String, known: LedgerOutput?, staging: Staging
  ) throws(SystemError) -> ExistingFile? {
    try ExistingFile(
      beneath(target), in: openOutbox(), bytes: bytes, sha256: sha256, known: known, staging: staging)
  }

  /// Creates the job's folder, if need be.
  /// - Parameter changed: Gets the paths of those that got a new name in them, also when an error is thrown.
  /// - Throws: `FolderObstacle` when the folder, or one of those that every job has, is a symbolic link, the folder a file, or
  ///   the log anything but a file; `SystemError`.
  package func prepare(changed: inout [String]) throws -> OpenFolder {
    let outbox = try openOutbox()
    if let kind = try outbox.status(of: Folder.name(of: path))?.kind, kind != .folder {
      throw FolderObstacle(path: path, kind: kind)
    }
    let folder = try create(changed: &changed)
    if !changed.isEmpty { return folder }
    for name in Artifact.Kind.allCases.map(\.folder) + ["history"] where try folder.status(of: name)?.kind == .link {
      throw FolderObstacle(path: file(name), kind: .link)
    }
    if let kind = try folder.status(of: Folder.name(of: entriesLog))?.kind, kind != .file {
      throw FolderObstacle(path: entriesLog, kind: kind)
    }
    return folder
  }
}

extension OpenFolder {
  /// Syncs a folder beneath it, or itself. It is opened for that: a sync that failed is never repeated on a descriptor.
  func syncFolder(_ path: String) throws(SystemError) { try folder(path.isEmpty ? "." : path).sync() }
}

/// What keeps a job from beginning: something in the outbox has the name of one of its folders or of its log, and is
/// something else. It is left as it is.
struct FolderObstacle: Error, Sendable, Equatable, CustomStringConvertible {
  /// The path of what is in the way.
  let path: String

  let kind: FileStatus.Kind

  var description: String {
    let what =
      switch kind {
      case .link: "a symbolic link"
      case .other: "something unknown"
      default: "a \(kind)"
      }
    return "\(path) is \(what), and is left as it is: move it away"
  }
}
