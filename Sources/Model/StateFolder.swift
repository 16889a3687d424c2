import Glibc
import System

/// Where the state lies: the ledger, and for each live job its manifest's snapshot and its index.
package struct StateFolder: Sendable {
  package let path: String

  /// The folder and its `jobs`, held open; nil to open them anew each time.
  private var handles: (state: OpenFolder, jobs: OpenFolder)?

  package init(path: String) { self.path = path }

  /// Opens the folder, and creates `jobs` when that is missing.
  package init(opening path: String) throws(SystemError) {
    self.path = path
    let folder = try OpenFolder(path)
    let (jobs, changed) = try folder.create("jobs", mode: 0o700)
    for above in changed { try Folder.sync(above) }
    handles = (folder, jobs)
  }

  /// The folder itself.
  package func openFolder() throws(SystemError) -> OpenFolder {
    if let handles { return handles.state }
    return try OpenFolder(path)
  }

  /// The folder with the files of the live jobs.
  package func openJobs() throws(SystemError) -> OpenFolder {
    if let handles { return handles.jobs }
    return try OpenFolder(jobs)
  }

  package var ledger: String { path + "/ledger.sqlite" }
  /// There while a process uses the ledger: one that is found at a start was left by a process that died.
  package static let useMark = "in-use"

  /// What was damaged: a folder for each ledger that was set aside, and for each run that could not be read.
  package var damaged: String { path + "/damaged" }

  package var jobs: String { path + "/jobs" }
  package var cache: String { path + "/cache" }
  /// How far `LedgerRetention` has come.
  package var retention: String { path + "/retention.json" }

  /// Remembers which files of the inbox were reported as ignored.
  package var ignored: String { path + "/ignored.json" }

  /// A run's files are named after it.
  package func snapshot(_ runID: String, extension suffix: String) -> String {
    jobs + "/" + snapshotName(runID, extension: suffix)
  }
  package func snapshotName(_ runID: String, extension suffix: String) -> String { "\(runID).\(suffix.lowercased())" }
  /// What a run's manifest has listed elsewhere, once it was downloaded.
  package func list(_ runID: String) -> String { jobs + "/" + listName(runID) }
  package func listName(_ runID: String) -> String { runID + ".list" }
  package func index(_ runID: String) -> String { "\(jobs)/\(runID).index" }

  /// The run to which a file in `jobs` belongs.
  package static func runID(of name: String) -> String { String(name.prefix { $0 != "." }) }

  /// Removes what a run has in `jobs`: nobody needs it when the run has ended, and the next start removes what is left.
  /// - Parameter hasList: Whether its entries were listed elsewhere. Default: no.
  package func remove(_ runID: String, extension suffix: String, hasList: Bool = false) {
    try? openJobs().remove(snapshotName(runID, extension: suffix))
    if hasList { try? openJobs().remove(listName(runID)) }
    removeIndex(runID)
  }

  /// Removes what was planned of a run.
  package func removeIndex(_ runID: String) { try? openJobs().remove(runID + ".index") }
}
