import System

/// The paths in the state folder: the ledger and, for each live job, the snapshot of its manifest and its index.
package struct StateFolder: Sendable {
  package let path: String

  /// The open folder and its `jobs`; nil to open them each time.
  private var handles: (state: OpenFolder, jobs: OpenFolder)?

  package init(path: String) { self.path = path }

  /// Opens the folder, and creates `jobs` if it is missing.
  package init(opening path: String) throws(SystemError) {
    self.path = path
    let folder = try OpenFolder(path)
    let (jobs, changed) = try folder.create("jobs", mode: 0o700)
    for above in changed { try Folder.sync(above) }
    handles = (folder, jobs)
  }

  /// Opens the folder.
  package func openFolder() throws(SystemError) -> OpenFolder {
    if let handles { return handles.state }
    return try OpenFolder(path)
  }

  /// Opens the folder with the files of live jobs.
  package func openJobs() throws(SystemError) -> OpenFolder {
    if let handles { return handles.jobs }
    return try OpenFolder(jobs)
  }

  package var ledger: String { path + "/ledger.sqlite" }

  /// The names of its folders, whose files are removed when no job needs them.
  package static let folderNames: Set = ["jobs", "cache", "damaged"]

  /// A file that exists while a process uses the ledger. One that exists at a start was left by a process that died.
  package static let useMark = "in-use"

  /// The folder for damaged data: a folder for each ledger that was set aside, and for each run that could not be read.
  package var damaged: String { path + "/damaged" }

  package var jobs: String { path + "/jobs" }
  package var cache: String { path + "/cache" }
  /// The file with the progress of `LedgerRetention`.
  package var retention: String { path + "/retention.json" }

  /// The file that lists the files of the inbox that were reported as ignored.
  package var ignored: String { path + "/ignored.json" }

  /// The path of the copy of a run's manifest.
  package func snapshot(_ runID: String, extension suffix: String) -> String {
    jobs + "/" + snapshotName(runID, extension: suffix)
  }
  package func snapshotName(_ runID: String, extension suffix: String) -> String { "\(runID).\(suffix.lowercased())" }
  /// The path of the list that was downloaded from the source of a run's manifest.
  package func list(_ runID: String) -> String { jobs + "/" + listName(runID) }
  package func listName(_ runID: String) -> String { runID + ".list" }
  package func index(_ runID: String) -> String { "\(jobs)/\(runID).index" }

  /// The run to which a file in `jobs` belongs.
  package static func runID(of name: String) -> String { String(name.prefix { $0 != "." }) }

  /// Removes the files of an ended run from `jobs`. Those that remain are removed at the next start.
  /// - Parameter hasList: Whether there is a downloaded list. Default: no.
  package func remove(_ runID: String, extension suffix: String, hasList: Bool = false) {
    try? openJobs().remove(snapshotName(runID, extension: suffix))
    if hasList { try? openJobs().remove(listName(runID)) }
    removeIndex(runID)
  }

  /// Removes the index of a run.
  package func removeIndex(_ runID: String) { try? openJobs().remove(runID + ".index") }
}
