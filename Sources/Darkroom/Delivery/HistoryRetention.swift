import Glibc
import System

/// Removes what earlier runs of a job have left in `history`, but for the last of them. It removes folders only that have a
/// run's name and nothing but a run's files in them, follows no symbolic link, and goes on where a process that died has
/// stopped. What was put aside just now stays for a later call, so that whoever waits for the job can read it. It is called while the job is live, so that nothing is put into `history` meanwhile.
struct HistoryRetention {
  /// How many folders are removed at most in one call: the next removes more.
  static let most = 1000

  /// What was put aside within so many seconds stays.
  static let shortest = 60.0

  let history: History

  /// How many are kept.
  let keeping: Int

  /// - Throws: `SystemError` when something cannot be removed now.
  func prune() throws(SystemError) {
    let folder: OpenFolder
    do throws(SystemError) {
      folder = try history.folder.open("history")
    } catch  where [.missing, .occupied].contains(error.cause) {
      return
    }
    // They sort by time.
    let names = try folder.names().compactMap(\.text).filter(RunID.isMade).sorted(by: >)
    guard names.count > keeping else { return }
    var (kept, removed) = (0, 0)
    // The latest first.
    for name in names where removed < Self.most {
      guard try folder.status(of: name)?.kind == .folder else { continue }
      if kept >= keeping {
        if try removeOld(name, from: folder) { removed += 1 }
      } else {
        kept += 1
      }
    }
  }

  /// - Returns: Whether the folder was a run's that was put aside long enough ago, and is gone.
  private func removeOld(_ name: String, from folder: OpenFolder) throws(SystemError) -> Bool {
    guard let status = try folder.status(of: name),
      abs(Clock.wallSeconds - status.identity.modified.sinceEpoch) >= Self.shortest
    else { return false }
    return try remove(name, from: folder)
  }

  /// - Returns: Whether the folder was a run's.
  private func remove(_ name: String, from folder: OpenFolder) throws(SystemError) -> Bool {
    let run: OpenFolder
    do throws(SystemError) {
      run = try folder.folder(name)
    } catch  where [.missing, .occupied, .permission].contains(error.cause) {
      return false
    }
    guard let names = try files(of: run) else { return false }
    // First what says that the rest is there.
    for name in names.sorted(by: { ($0 != "report.json" ? 1 : 0, $0) < ($1 != "report.json" ? 1 : 0, $1) }) {
      try run.remove(name)
    }
    folder.removeIfEmpty(name)
    return true
  }

  /// The files of a run's folder.
  /// - Returns: nil when it is another folder, or somebody has put something else there.
  private func files(of run: OpenFolder) throws(SystemError) -> [String]? {
    guard try run.status().owner == geteuid() else { return nil }
    var names: [String] = []
    for name in try run.names() {
      guard let text = name.text, history.isOfRun(text), try run.status(of: text)?.kind == .file else { return nil }
      names.append(text)
    }
    guard names.contains("report.json") else { return names }
    let head = try ReportHead(of: run.open(reading: "report.json"))
    return head?.runID != nil && head?.job == history.folder.name ? names : nil
  }
}
