import JobIndex
import Model
import Operations
import Scheduling
import System

/// Entries of runs that are cancelled or superseded.
extension EntryFlow {
  /// Closes a run: nothing of it starts any more, and what is in progress is cancelled.
  /// - Parameter plan: What a later manifest wants as well may end. Default: nil, there is none.
  func close(_ run: Int, _ entries: RunEntries, sparing plan: Plan?) {
    let wanted = plan.map { self.wanted(of: run, entries, by: $0) } ?? []
    let attempts = scheduler.stop(run: run, now: Clock.monotonicMilliseconds)
    entries.close(attempts: attempts, awaiting: wanted)
    scheduler.dropPartials(run: run)
    holds.releaseEntries(of: run)
    unreadable[run] = nil
    pending.cancel(run: run) { !wanted.contains($0) }
  }

  /// Cancels operations of a superseded run that might have ended.
  /// - Parameter plan: What it wants still may end; nil when nobody waits any more.
  func cancelAwaited(_ run: Int, _ entries: RunEntries, sparing plan: Plan?) {
    if entries.awaited.isEmpty { return }
    let cancelled = entries.keepAwaiting(plan.map { wanted(of: run, entries, by: $0) } ?? [])
    if !cancelled.isEmpty { pending.cancel(run: run, where: cancelled.contains) }
  }

  /// The entries of a run with operations that have begun, and that another manifest wants as well: the same of the same
  /// request. Files are none of them: they are read again. What has not begun begins no more, so that it is not asked for twice.
  private func wanted(of run: Int, _ entries: RunEntries, by plan: Plan) -> Set<Int> {
    if entries.isSource { return [] }
    return pending.keepBegun(run: run) { position in
      // What cannot be compared is done again.
      guard let entry = try? entries.plan.index.identity(at: position), let work = entry.work else { return false }
      return (try? plan.index.identity(named: entry.name))?.work == work
    }
  }

  /// Decides on entries of closing runs that were cancelled: in queues that are suspended their operations end later.
  func takeCancelled(_ configuration: Configuration) {
    for (run, entries) in runs where entries.isClosing {
      for record in pending.takeIdle(run: run) { decide(on: record, configuration) }
    }
  }
}
