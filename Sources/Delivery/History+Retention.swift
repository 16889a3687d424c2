import Glibc
import Model
import System

/// Removes the oldest runs of a job from `history`.
extension History {
  /// The most folders that one call removes.
  static let mostRemoved = 1000

  /// Removes folders that have the name of a run and contain only files of a run, and continues where a process that
  /// died has stopped. Symbolic links are not followed. Must be called while the job is live, so that nothing is added
  /// to `history` at the same time.
  /// - Parameters:
  ///   - count: The number of runs to keep.
  ///   - keepsLastGood: Whether the run whose pictures the job's page shows is kept, too, since the newest manifest was rejected.
  ///     Default: false.
  /// - Throws: `SystemError` when a file cannot be removed now.
  package func prune(keeping count: Int, keepsLastGood: Bool = false) throws(SystemError) {
    let history: OpenFolder
    do throws(SystemError) {
      history = try folder.open("history")
    } catch  where [.missing, .occupied].contains(error.cause) {
      return
    }
    // The names of runs sort by time.
    let names = try history.names().compactMap(\.text).filter(RunID.isMade).sorted()
    guard names.count > count else { return }
    var runs: [String] = []
    for name in names where try history.status(of: name)?.kind == .folder { runs.append(name) }
    let good = keepsLastGood ? ReportHead.lastGood(in: history)?.run : nil
    var removed = 0
    for run in runs.dropLast(count) where run != good && removed < Self.mostRemoved {
      if try remove(run, from: history) { removed += 1 }
    }
  }

  /// - Returns: Whether the folder was a run's, old enough, and is removed.
  private func remove(_ name: String, from history: OpenFolder) throws(SystemError) -> Bool {
    let run: OpenFolder
    do throws(SystemError) {
      run = try history.folder(name)
    } catch  where [.missing, .occupied, .permission].contains(error.cause) {
      return false
    }
    let status = try run.status()
    let age = abs(Clock.wallSeconds - status.identity.modified.sinceEpoch)
    guard status.owner == geteuid(), age >= Retention.history else { return false }
    var names: [String] = []
    for name in try run.names() {
      // A user may have added files.
      guard let text = name.text, isOfRun(text), try run.status(of: text)?.kind == .file else { return false }
      names.append(text)
    }
    if names.contains("report.json") {
      let head = try ReportHead(of: run.open(reading: "report.json"))
      guard head?.runID != nil, head?.job == folder.name else { return false }
      // The report is removed first, since it promises that the other files exist.
      try run.remove("report.json")
    }
    for name in names where name != "report.json" { try run.remove(name) }
    history.removeIfEmpty(name)
    return true
  }
}
