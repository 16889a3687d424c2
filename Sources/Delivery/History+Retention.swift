import Glibc
import Model
import System

/// Removes the oldest runs of a job from `history`.
extension History {
  /// The most folders that one call removes.
  package static let mostRemoved = 1000

  /// Removes folders that have the name of a run and contain only files of a run, and continues where a process that
  /// died has stopped. Symbolic links are not followed. Must be called while the job is live, so that nothing is added
  /// to `history` at the same time.
  /// - Parameters:
  ///   - count: The number of runs to keep.
  ///   - keepsLastGood: Whether the run whose pictures the job's page shows is kept, too, since the newest manifest was rejected.
  ///     Default: false.
  /// - Throws: `SystemError` when a file cannot be removed now.
  package func prune(keeping count: Int, keepsLastGood: Bool = false) throws(SystemError) {
    guard let (history, names) = try expired(keeping: count, keepsLastGood: keepsLastGood) else { return }
    var removed = 0
    for name in names where removed < Self.mostRemoved {
      if let run = try removable(name, from: history) {
        try remove(run, name, from: history)
        removed += 1
      }
    }
  }

  /// The runs that `prune` removes, at once or with its next calls.
  /// - Returns: Their names, with the bytes of their files.
  package func prunable(keeping count: Int, keepsLastGood: Bool = false) throws(SystemError) -> [(
    run: String, bytes: Int
  )] {
    guard let (history, names) = try expired(keeping: count, keepsLastGood: keepsLastGood) else { return [] }
    var runs: [(run: String, bytes: Int)] = []
    for name in names {
      guard let run = try removable(name, from: history) else { continue }
      var bytes = 0
      for file in run.files { bytes += try run.folder.status(of: file)?.identity.size ?? 0 }
      runs.append((name, bytes))
    }
    return runs
  }

  /// The runs that are too many.
  /// - Returns: nil when there is no history, or nothing in it to remove.
  private func expired(
    keeping count: Int, keepsLastGood: Bool
  ) throws(SystemError) -> (history: OpenFolder, names: [String])? {
    let history: OpenFolder
    do throws(SystemError) {
      history = try folder.open("history")
    } catch  where [.missing, .occupied].contains(error.cause) {
      return nil
    }
    // The names of runs sort by time.
    let names = try history.names().compactMap(\.text).filter(RunID.isMade).sorted()
    guard names.count > count else { return nil }
    var runs: [String] = []
    for name in names where try history.status(of: name)?.kind == .folder { runs.append(name) }
    let good = keepsLastGood ? ReportHead.lastGood(in: history)?.run : nil
    return (history, runs.dropLast(count).filter { $0 != good })
  }

  /// - Returns: The folder of a run and its files; nil when it contains something else, or is too new.
  private func removable(
    _ name: String, from history: OpenFolder
  ) throws(SystemError) -> (folder: OpenFolder, files: [String])? {
    let run: OpenFolder
    do throws(SystemError) {
      run = try history.folder(name)
    } catch  where [.missing, .occupied, .permission].contains(error.cause) {
      return nil
    }
    let status = try run.status()
    let age = abs(Clock.wallSeconds - status.identity.modified.sinceEpoch)
    guard status.owner == geteuid(), age >= Retention.history else { return nil }
    var names: [String] = []
    for name in try run.names() {
      guard let text = name.text, try run.status(of: text)?.kind == .file else { return nil }
      names.append(text)
    }
    var head: ReportHead?
    if names.contains("report.json") {
      head = try ReportHead(of: run.open(reading: "report.json"))
      guard head?.runID != nil, head?.job == folder.name else { return nil }
    }
    // A user may have added files.
    return files(ofRun: names, head: head).count == names.count ? (run, names) : nil
  }

  private func remove(
    _ run: (folder: OpenFolder, files: [String]), _ name: String, from history: OpenFolder
  ) throws(SystemError) {
    // The report is removed first, since it promises that the other files exist.
    let files = run.files.sorted { ($0 == "report.json" ? 0 : 1, $0) < ($1 == "report.json" ? 0 : 1, $1) }
    for file in files {
      try run.folder.remove(file)
    }
    history.removeIfEmpty(name)
  }
}
