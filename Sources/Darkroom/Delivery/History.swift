import Foundation
import System

/// Puts what an earlier run of a job left aside, so that `report.json` exists only when this run is done.
struct History {
  let folder: JobFolder

  /// Moves the earlier report, manifest, log and list of failures to `history/RUN_ID/`. Does nothing when there is no
  /// earlier run.
  /// - Throws: `SystemError`.
  func putAside() throws(SystemError) {
    let names = try Folder.names(in: folder.path).compactMap(\.text).filter(isOfRun)
    if names.isEmpty { return }
    if try isUnbegun(names) { return }
    let target = folder.history + "/" + earlierRun()
    try Folder.createDurably(target)
    // The report goes last: as long as it is there, what is left belongs to it.
    for name in names.sorted(by: { ($0 == "report.json" ? 1 : 0, $0) < ($1 == "report.json" ? 1 : 0, $1) }) {
      try Folder.rename(folder.file(name), to: target + "/" + name)
    }
    try Folder.sync(target)
    try Folder.sync(folder.path)
  }

  /// Whether all there is is the empty log of a run that had not begun when the program died.
  private func isUnbegun(_ names: [String]) throws(SystemError) -> Bool {
    guard names == ["entries.jsonl"] else { return false }
    return try FileStatus(of: folder.entriesLog).size == 0
  }

  private func isOfRun(_ name: String) -> Bool {
    name == "report.json" || name == "entries.jsonl" || name == folder.name + ".failed.jsonl"
      || JobFolder.isManifest(name)
  }

  /// The earlier run's name, from the beginning of its report; from the folder's time when that does not tell.
  private func earlierRun() -> String {
    if let runID = (try? ReportHead(of: folder.report))?.runID, RunID.isValid(runID) { return runID }
    let modified = (try? FileStatus(of: folder.path).identity.modified.sinceEpoch) ?? 0
    return RunID.make(at: Date(timeIntervalSince1970: modified))
  }
}
