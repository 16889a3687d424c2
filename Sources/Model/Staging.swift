import Glibc
import System

/// The folder on the outbox's file system in which files are written before they get their final names. The names tell
/// the run and the entry, so that what a killed run left behind can be told apart.
package struct Staging: Sendable {
  package let folder: String
  package let runID: String

  /// The folder, held open; nil to open it anew each time.
  package var handle: OpenFolder?

  package init(folder: String, runID: String, handle: OpenFolder? = nil) {
    self.folder = folder
    self.runID = runID
    self.handle = handle
  }

  package func path(_ name: String) -> String { folder + "/" + name }

  package func download(_ position: Int) -> String { "\(runID)-\(position).source" }

  /// The name of a file that an entry delivers.
  package func file(_ kind: Artifact.Kind, of position: Int) -> String { Self.file(kind, of: position, run: runID) }

  package static func file(_ kind: Artifact.Kind, of position: Int, run runID: String) -> String {
    "\(runID)-\(position).\(kind.rawValue)"
  }

  /// The names of all files that an entry may have here, but for what a download that broke off has left: that is removed by
  /// its `PartialDownload`.
  func files(of position: Int) -> [String] {
    [download(position)] + Artifact.Kind.allCases.map { file($0, of: position) }
  }

  /// The name of a file of the job itself, such as its report.
  package func document(_ name: String) -> String { "\(runID)-\(name)" }

  /// The folder itself.
  package func open() throws(SystemError) -> OpenFolder {
    if let handle { return handle }
    return try OpenFolder(folder)
  }

  /// Checks that the folder has its path: when its file system is not mounted, everything seems to be missing.
  /// - Throws: `SystemError`, `ESTALE` when it is missing, or there is another.
  package func checkPresence() throws(SystemError) {
    guard try FileStatus.exists(folder),
      try handle?.status().identity.isSameNode(as: FileStatus(of: folder).identity) != false
    else { throw SystemError("the outbox is not there", folder, code: ESTALE) }
  }

  /// Creates a file; what an earlier attempt of the same run left under the name is removed.
  package func create(_ name: String, mode: mode_t = 0o666) throws(SystemError) -> OpenFile {
    let folder = try open()
    do {
      return try folder.create(file: name, mode: mode)
    } catch  where error.code == EEXIST {
      try folder.remove(name)
      return try folder.create(file: name, mode: mode)
    }
  }

  package func open(_ name: String) throws(SystemError) -> OpenFile { try open().open(reading: name) }

  /// Gives a file from elsewhere a name here, too, or a copy where that is refused.
  /// - Returns: Whether the name is there now, with the whole file.
  package func link(_ path: String, as name: String) -> Bool { (try? open().link(path, orCopyTo: name)) ?? false }

  /// Removes a file, if it is there and can be removed: staging is emptied at every start.
  package func remove(_ name: String) { try? open().remove(name) }

  /// Removes all files of an entry of which nothing is to be delivered.
  package func removeFiles(of position: Int) { for name in files(of: position) { remove(name) } }

  /// Removes the files of all entries of the run, of which nothing is in progress or being delivered any more. They are looked
  /// up in the folder: an entry may have some that never began.
  package func removeFilesOfEntries() {
    for name in (try? open().names()) ?? [] {
      guard let text = name.text, text.hasPrefix(runID + "-"),
        let position = Int(text.dropFirst(runID.utf8.count + 1).prefix { $0 != "." }),
        files(of: position).contains(text)
      else { continue }
      remove(text)
    }
  }
}
