import Glibc
import System

/// Where the state lies: the ledger, and for each live job its manifest's snapshot and its index.
struct StateFolder: Sendable {
  let path: String

  var ledger: String { path + "/ledger.sqlite" }
  /// There while a process uses the ledger: one that is found at a start was left by a process that died.
  var useMark: String { path + "/in-use" }

  /// What was damaged: a folder for each ledger that was set aside, and for each run that could not be read.
  var damaged: String { path + "/damaged" }

  var jobs: String { path + "/jobs" }
  var cache: String { path + "/cache" }
  var status: String { path + "/status.json" }

  /// A run's files are named after it.
  func snapshot(_ runID: String, extension suffix: String) -> String { "\(jobs)/\(runID).\(suffix.lowercased())" }
  func index(_ runID: String) -> String { "\(jobs)/\(runID).index" }

  /// The run to which a file in `jobs` belongs.
  static func runID(of name: String) -> String { String(name.prefix { $0 != "." }) }

  /// Removes what a run has in `jobs`: nobody needs it when the run has ended, and the next start removes what is left.
  func remove(_ runID: String, extension suffix: String) {
    unlink(snapshot(runID, extension: suffix))
    removeIndex(runID)
  }

  /// Removes what was planned of a run.
  func removeIndex(_ runID: String) { unlink(index(runID)) }

  /// Moves what a version up to 0.1 has left, with a folder for each run, to where it lies now.
  /// - Throws: `SystemError`.
  func adoptOlderLayout() throws(SystemError) {
    var hasMoved = false
    for name in try Folder.names(in: jobs).compactMap(\.text) where !name.contains(".") {
      let folder = jobs + "/" + name
      guard (try? FileStatus(of: folder))?.kind == .folder else { continue }
      for file in try Folder.names(in: folder).compactMap(\.text) {
        let prefix = "manifest."
        if file.hasPrefix(prefix) {
          try Folder.rename(folder + "/" + file, to: snapshot(name, extension: String(file.dropFirst(prefix.count))))
        } else {
          unlink(folder + "/" + file)
        }
      }
      rmdir(folder)
      hasMoved = true
    }
    if hasMoved { try Folder.sync(jobs) }
  }
}
