import Foundation
import Glibc
import Model
import System

/// Moves the files of an earlier run to `history`, so that `report.json` exists only when the current run is done.
package struct History {
  package let folder: JobFolder

  package init(folder: JobFolder) { self.folder = folder }

  /// Moves the earlier report, manifest, log and list of failures to `history/RUN_ID/`. Does nothing when there is no
  /// earlier run.
  /// - Parameter exceptLog: Whether `entries.jsonl` stays, because the run that begins takes over its rows. Default: no.
  /// - Throws: `SystemError`.
  package func putAside(exceptLog: Bool = false) throws(SystemError) {
    let job = try folder.open()
    let names = try job.names().compactMap(\.text).filter { isOfRun($0) && !(exceptLog && $0 == "entries.jsonl") }
    if names.isEmpty { return }
    if try isUnbegun(names, in: job) { return }
    // The report is moved last: while it exists, the remaining files belong to it.
    let sorted = names.sorted { ($0 == "report.json" ? 1 : 0, $0) < ($1 == "report.json" ? 1 : 0, $1) }
    let target = try freeFolder(for: sorted, of: job)
    for name in sorted where try !job.renameWithoutReplacing(name, to: target, as: name) {
      throw SystemError("rename", target.path + "/" + name, code: EEXIST)
    }
    try target.sync()
    try job.sync()
  }

  /// The earlier run's folder in `history`, or a new one if that contains files of these names.
  private func freeFolder(for names: [String], of job: OpenFolder) throws(SystemError) -> OpenFolder {
    let target = try folder.createDurably("history/" + earlierRun(in: job))
    for name in names where try target.status(of: name) != nil {
      return try folder.createDurably("history/" + RunID.make(after: runs))
    }
    return target
  }

  /// Whether there is only the empty log of a run that had not begun when the program died.
  private func isUnbegun(_ names: [String], in job: OpenFolder) throws(SystemError) -> Bool {
    guard names == ["entries.jsonl"] else { return false }
    return try job.status(of: "entries.jsonl")?.size == 0
  }

  /// Whether a name is that of a file that a run leaves in the job's folder.
  func isOfRun(_ name: String) -> Bool {
    name == "report.json" || name == "entries.jsonl" || name == folder.name + ".failed.jsonl"
      || JobFolder.isManifest(name)
  }

  /// The names in `history`: of runs, unless others have put something there; none when it cannot be read.
  package var runs: [String] { ((try? folder.open("history").names()) ?? []).compactMap(\.text) }

  /// The earlier run's name, from its report, or from the folder's modification time.
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
