import Operations
import System

/// Entries over which the program has ended again and again: they start last, one at a time, so that it costs the others
/// nothing when it ends over them once more.
extension EntryFlow {
  /// How long one whose own job has nothing else left waits for what other jobs have, in seconds: others may be dropped
  /// again and again.
  static let suspectWait = 60.0

  /// Starts a suspect where it is its turn.
  /// - Parameter hasOthers: Whether there are jobs that wait, or that are planned or reported.
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

  /// Whether suspects are all that is left to be done of what is worked on.
  private var hasNothingElse: Bool {
    pending.inProgress.isEmpty && undelivered == 0 && runs.allSatisfy(hasOnlySuspects)
  }

  /// Whether all other rows of a run are durable, but those of entries that wait for others.
  private func hasOnlySuspects(_ run: Int, _ entries: RunEntries) -> Bool {
    guard !entries.suspects.isEmpty else { return false }
    return entries.suspects.count + scheduler.waitingForOthers(run: run) >= entries.left
  }
}
