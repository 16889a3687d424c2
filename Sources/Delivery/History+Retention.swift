import Glibc
import Model
import System

/// Removes what earlier runs of a job have left in `history`, but for the last of them.
extension History {
  /// How many folders are removed at most in one call: the next removes more.
  static let mostRemoved = 1000

  /// Removes folders only that have a run's name and nothing but a run's files in them, follows no symbolic link, and goes on
  /// where a process that died has stopped. To be called while the job is live, so that nothing is put into `history`
  /// meanwhile.
  /// - Parameter count: How many are kept.
  /// - Throws: `SystemError` when something cannot be removed now.
  package func prune(keeping count: Int) throws(SystemError) {
    let history: OpenFolder
    do throws(SystemError) {
      history = try folder.open("history")
    } catch  where [.missing, .occupied].contains(error.cause) {
      return
    }
    // They sort by time.
    let names = try history.names().compactMap(\.text).filter(RunID.isMade).sorted()
    guard names.count > count else { return }
    var runs: [String] = []
    for name in names where try history.status(of: name)?.kind == .folder { runs.append(name) }
    var removed = 0
    for run in runs.dropLast(count) where removed < Self.mostRemoved {
      if try remove(run, from: history) { removed += 1 }
    }
  }

  /// - Returns: Whether the folder was a run's that was put aside long enough ago, and is gone.
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
      // Somebody may have put something else there.
      guard let text = name.text, isOfRun(text), try run.status(of: text)?.kind == .file else { return false }
      names.append(text)
    }
    if names.contains("report.json") {
      let head = try ReportHead(of: run.open(reading: "report.json"))
      guard head?.runID != nil, head?.job == folder.name else { return false }
      // First what says that the rest is there.
      try run.remove("report.json")
    }
    for name in names where name != "report.json" { try run.remove(name) }
    history.removeIfEmpty(name)
    return true
  }
}
