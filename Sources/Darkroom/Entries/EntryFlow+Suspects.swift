import Operations
import System

/// Entries during which the program has crashed repeatedly. They start last, one at a time, so that another crash does
/// not affect other entries.
extension EntryFlow {
  /// How long a suspect waits for the entries of other jobs when its own job has no others left, in seconds. It cannot
  /// wait for all, since new jobs may keep arriving.
  static let suspectWait = 60.0

  /// Starts a suspect if it may start.
  /// - Parameter hasOthers: Whether jobs are waiting, being planned or being reported.
  func admitSuspects(now: Double, hasOthers: Bool) {
    for (run, entries) in runs where hasOnlySuspects(run, entries) {
      let since = entries.suspectsSince ?? now
      entries.suspectsSince = since
      guard now - since >= Self.suspectWait || !hasOthers && hasNothingElse else { continue }
      entries.suspectsSince = nil
      do throws(EntryScheduler.IndexError) {
        try scheduler.admit(entries.suspects.removeFirst(), of: run, now: Clock.monotonicMilliseconds)
      } catch {
        indexFailed(error)
      }
      return
    }
  }

  /// When a suspect may start that waits for the entries of other jobs, in seconds; nil when none does.
  var suspectsDue: Double? { runs.values.compactMap(\.suspectsSince).min().map { $0 + Self.suspectWait } }

  /// Whether only suspects are left.
  private var hasNothingElse: Bool {
    pending.inProgress.isEmpty && undelivered == 0 && runs.allSatisfy(hasOnlySuspects)
  }

  /// Whether a run has only suspects left, and entries that wait for others.
  private func hasOnlySuspects(_ run: Int, _ entries: RunEntries) -> Bool {
    guard !entries.suspects.isEmpty else { return false }
    return entries.suspects.count + scheduler.waitingForOthers(run: run) >= entries.left
  }
}
