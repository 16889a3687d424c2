import System

/// Entries over which the program has ended again and again: they start last, one at a time, so that it costs the others
/// nothing when it ends over them once more.
extension LiveJobs {
  /// How long one whose own job has nothing else left waits for what other jobs have, in seconds: others may be dropped
  /// again and again.
  static let suspectWait = 60.0

  /// Starts a suspect where it is its turn.
  func admitSuspects(now: Double) {
    for run in runs.values where !run.suspects.isEmpty {
      guard hasOnlySuspects(run) else { continue }
      let since = run.suspectsSince ?? now
      run.suspectsSince = since
      guard now - since >= Self.suspectWait || hasNothingElse else { continue }
      run.suspectsSince = nil
      do throws(EntryScheduler.IndexError) {
        try scheduler.admit(run.suspects.removeFirst(), of: run.number, now: Clock.monotonicMilliseconds)
      } catch {
        indexFailed(error)
      }
      return
    }
  }

  /// Whether suspects are all that is left to be done.
  private var hasNothingElse: Bool {
    pending.inProgress.isEmpty && undelivered == 0 && queue.isEmpty && runs.values.allSatisfy(hasOnlySuspects)
  }

  /// Whether all other rows of a run are durable, but those of entries that wait for others.
  private func hasOnlySuspects(_ run: JobRun) -> Bool {
    guard case .running(let running) = run.phase, !run.suspects.isEmpty else { return false }
    let left = running.plan.total - running.tally.counts.total
    return run.suspects.count + scheduler.waitingForOthers(run: run.number) >= left
  }
}
