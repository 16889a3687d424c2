import Foundation
import Glibc
import Model
import System

/// Moves the files of an earlier run to `history`, so that `report.json` exists only when the current run is done.
package struct History {
  package let folder: JobFolder

  package init(folder: JobFolder) { self.folder = folder }

  /// Begins the names of folders in `history` with files of others.
  static let othersPrefix = "others-"

  /// Whether a folder in `history` may be a run's, and not one with files of others.
  package static func isRun(_ name: String) -> Bool { !name.hasPrefix(othersPrefix) }

  /// Moves the earlier report, manifest, log and list of failures to `history/RUN_ID/`. Does nothing when there is no
  /// earlier run. Other files stay, also those that are called like another run's manifest.
  /// - Parameters:
  ///   - exceptLog: Whether `entries.jsonl` stays, because the run that begins takes over its rows. Default: no.
  ///   - hasEarlierRun: Whether the ledger knows an earlier run of the job. If not, files without a report are others'.
  ///     Default: yes.
  /// - Returns: The new paths of files of others that had the names of documents.
  /// - Throws: `SystemError`.
  @discardableResult
  package func putAside(exceptLog: Bool = false, hasEarlierRun: Bool = true) throws(SystemError) -> [String] {
    let job = try folder.open()
    let present = try job.names().compactMap(\.text)
    let head = try reportHead(in: job)
    let names = files(ofRun: present, head: head).filter { !(exceptLog && $0 == "entries.jsonl") }
    if names.isEmpty { return [] }
    if try isUnbegun(names, in: job) { return [] }
    if head == nil, !hasEarlierRun {
      let aside = "history/" + Self.othersPrefix + RunID.make()
      var moved: [String] = []
      for name in names { moved.append(try move(name, of: job, to: aside)) }
      try job.sync()
      return moved
    }
    // The report is moved last: while it exists, the remaining files belong to it.
    let sorted = names.sorted { ($0 == "report.json" ? 1 : 0, $0) < ($1 == "report.json" ? 1 : 0, $1) }
    let target = try freeFolder(for: sorted, of: job, head)
    for name in sorted where try !job.renameWithoutReplacing(name, to: target, as: name) {
      throw SystemError("rename", target.path + "/" + name, code: EEXIST)
    }
    try target.sync()
    try job.sync()
    return []
  }

  /// The earlier run's folder in `history`, or a new one if that contains files of these names.
  private func freeFolder(
    for names: [String], of job: OpenFolder, _ head: ReportHead?
  ) throws(SystemError) -> OpenFolder {
    let target = try folder.createDurably("history/" + earlierRun(in: job, head))
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

  /// The files among others that a run left in the job's folder, or in its own in `history`. Without a report, which tells the
  /// manifest's name, the only file that is called like one is taken for it.
  /// - Parameter head: The head of the report beside them; nil without a report that can be read.
  func files(ofRun names: [String], head: ReportHead?) -> [String] {
    let manifests = names.filter(JobFolder.isManifest)
    let manifest = head?.manifestName ?? (manifests.count == 1 ? manifests[0] : nil)
    let known = ["report.json", "entries.jsonl", folder.name + ".failed.jsonl", manifest]
    return names.filter { known.contains($0) }
  }

  /// Moves a file out of the way that somebody else has put into the job's folder, under the name of a document: neither it nor the
  /// document is lost.
  /// - Parameter subfolder: The path of a folder with no name of a run, so that it is neither taken for one nor removed.
  /// - Returns: Its new path.
  /// - Throws: `SystemError`.
  func move(_ name: String, of job: OpenFolder, to subfolder: String) throws(SystemError) -> String {
    let target = try folder.createDurably(subfolder)
    guard try job.renameWithoutReplacing(name, to: target, as: name) else {
      throw SystemError("rename", target.path + "/" + name, code: EEXIST)
    }
    try target.sync()
    return target.path + "/" + name
  }

  /// The names in `history`: of runs, unless others have put something there; none when it cannot be read.
  package var runs: [String] { ((try? folder.open("history").names()) ?? []).compactMap(\.text) }

  /// The earlier run's name, from its report, or from the folder's modification time.
  private func earlierRun(in job: OpenFolder, _ head: ReportHead?) -> String {
    if let runID = head?.runID, RunID.isValid(runID) { return runID }
    let modified = (try? job.status().identity.modified.sinceEpoch) ?? 0
    return RunID.make(at: Date(timeIntervalSince1970: modified))
  }

  /// - Throws: `SystemError` when the report may be read later.
  private func reportHead(in job: OpenFolder) throws(SystemError) -> ReportHead? {
    do {
      return try ReportHead(of: job.open(reading: "report.json"))
    } catch {
      if error.cause.isOfMachine && error.cause != .permission { throw error }
      return nil
    }
  }
}
