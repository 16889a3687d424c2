import Glibc
import System

/// The folder on the outbox's file system in which files are written before they get their final names. Names contain
/// the run and the position, so that files of a killed run can be identified.
package struct Staging: Sendable {
  package let folder: String
  package let runID: String

  /// The open folder; nil to open it each time.
  package var handle: OpenFolder?

  package init(folder: String, runID: String, handle: OpenFolder? = nil) {
    self.folder = folder
    self.runID = runID
    self.handle = handle
  }

  package func path(_ name: String) -> String { folder + "/" + name }

  package func download(_ position: Int) -> String { "\(runID)-\(position).source" }

  /// The name of a source that is delivered before the result. Only the delivery removes it.
  package func earlyOriginal(_ position: Int) -> String { "\(runID)-\(position).early" }

  /// The name of a file that an entry delivers.
  package func file(_ kind: Artifact.Kind, of position: Int) -> String { Self.file(kind, of: position, run: runID) }

  package static func file(_ kind: Artifact.Kind, of position: Int, run runID: String) -> String {
    "\(runID)-\(position).\(kind.rawValue)"
  }

  /// The names of all files that an entry may have in staging, except that of a partial download, which
  /// `PartialDownload` removes.
  func files(of position: Int) -> [String] {
    [download(position)] + Artifact.Kind.allCases.map { file($0, of: position) }
  }

  /// The name of a file of the job, such as its report.
  package func document(_ name: String) -> String { "\(runID)-\(name)" }

  /// Opens the folder.
  package func open() throws(SystemError) -> OpenFolder {
    if let handle { return handle }
    return try OpenFolder(folder)
  }

  /// Checks that the folder has its path. When its file system is not mounted, all files seem to be missing.
  /// - Throws: `SystemError` with `ESTALE` when the folder is missing or is another one.
  package func checkPresence() throws(SystemError) {
    guard try FileStatus.exists(folder),
      try handle?.status().identity.isSameNode(as: FileStatus(of: folder).identity) != false
    else { throw SystemError("the outbox is not there", folder, code: ESTALE) }
  }

  /// Creates a file. Replaces one that an earlier attempt of the same run left.
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

  /// Links a file from elsewhere into staging, or copies it where links are refused.
  /// - Returns: Whether the complete file has the name now.
  package func link(_ path: String, as name: String) -> Bool { (try? open().link(path, orCopyTo: name)) ?? false }

  /// Removes a file, if possible. Staging is emptied at every start.
  package func remove(_ name: String) { try? open().remove(name) }

  /// Removes all files of an entry that are not delivered.
  package func removeFiles(of position: Int) { for name in files(of: position) { remove(name) } }

  /// Removes the files of all entries of the run, when none is in progress or being delivered. Lists the folder to find
  /// them, since an entry that has not begun may have files too.
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
