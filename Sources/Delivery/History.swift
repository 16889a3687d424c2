import Foundation
import Glibc
import Model
import System

/// Puts what an earlier run of a job left aside, so that `report.json` exists only when this run is done.
package struct History {
  package let folder: JobFolder

  package init(folder: JobFolder) {
    self.folder = folder
  }

  /// Moves the earlier report, manifest, log and list of failures to `history/RUN_ID/`. Does nothing when there is no
  /// earlier run.
  /// - Throws: `SystemError`.
  package func putAside() throws(SystemError) {
    let job = try folder.open()
    let names = try job.names().compactMap(\.text).filter(isOfRun)
    if names.isEmpty { return }
    if try isUnbegun(names, in: job) { return }
    // The report goes last: as long as it is there, what is left belongs to it.
    let sorted = names.sorted { ($0 == "report.json" ? 1 : 0, $0) < ($1 == "report.json" ? 1 : 0, $1) }
    let target = try freeFolder(for: sorted, of: job)
    for name in sorted where try !job.renameWithoutReplacing(name, to: target, as: name) {
      throw SystemError("rename", target.path + "/" + name, code: EEXIST)
    }
    try target.sync()
    try job.sync()
  }

  /// The earlier run's folder in `history`, or another when somebody has put files of these names there.
  private func freeFolder(for names: [String], of job: OpenFolder) throws(SystemError) -> OpenFolder {
    let target = try folder.createDurably("history/" + earlierRun(in: job))
    for name in names where try target.status(of: name) != nil {
      return try folder.createDurably("history/" + RunID.make())
    }
    return target
  }

  /// Whether all there is is the empty log of a run that had not begun when the program died.
  private func isUnbegun(_ names: [String], in job: OpenFolder) throws(SystemError) -> Bool {
    guard names == ["entries.jsonl"] else { return false }
    return try job.status(of: "entries.jsonl")?.size == 0
  }

  /// Whether a name is one of a file that a run leaves and the next puts aside.
  func isOfRun(_ name: String) -> Bool {
    name == "report.json" || name == "entries.jsonl" || name == folder.name + ".failed.jsonl"
      || JobFolder.isManifest(name)
  }

  /// The earlier run's name, from the beginning of its report; from the folder's time when that does not tell.
  /// - Throws: `SystemError` when the report may be read later.
  private func earlierRun(in job: OpenFolder) throws(SystemError) -> String {
    if let runID = try reportHead(in: job)?.runID, RunID.isValid(runID) { return runID }
    let modified = (try? job.status().identity.modified.sinceEpoch) ?? 0
    return RunID.make(at: Date(timeIntervalSince1970: modified))
  }

  private func reportHead(in job: OpenFolder) throws(SystemError) -> ReportHead? {
    do {
      return try ReportHead(of: job.open(reading: "report.json"))
    } catch {
      if error.cause.isOfMachine && error.cause != .permission { throw error }
      return nil
    }
  }
}
