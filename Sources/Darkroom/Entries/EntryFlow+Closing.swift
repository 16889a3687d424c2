import JobIndex
import Model
import Operations
import System

/// The entries of cancelled and superseded runs.
extension EntryFlow {
  /// Closes a run: none of its entries starts any more, and those in progress are cancelled.
  /// - Parameter plan: The later manifest, which may want some of the same results. Default: nil, there is none.
  func close(_ run: Int, _ entries: RunEntries, sparing plan: Plan?) {
    let wanted = plan.map { self.wanted(of: run, entries, by: $0) } ?? []
    let attempts = scheduler.stop(run: run, now: Clock.monotonicMilliseconds)
    entries.close(attempts: attempts, awaiting: wanted)
    scheduler.dropPartials(run: run)
    holds.releaseEntries(of: run)
    unreadable[run] = nil
    pending.cancel(run: run) { !wanted.contains($0) }
  }

  /// Cancels operations of a superseded run that were allowed to finish.
  /// - Parameter plan: The later manifest. The operations that it wants may still finish; nil to cancel all.
  func cancelAwaited(_ run: Int, _ entries: RunEntries, sparing plan: Plan?) {
    if entries.awaited.isEmpty { return }
    let cancelled = entries.keepAwaiting(plan.map { wanted(of: run, entries, by: $0) } ?? [])
    if !cancelled.isEmpty { pending.cancel(run: run, where: cancelled.contains) }
  }

  /// The entries of a run whose operations have begun and that another manifest wants in the same way. Files are
  /// excluded, since they are read again. Other entries are kept from beginning, so that nothing is requested twice.
  private func wanted(of run: Int, _ entries: RunEntries, by plan: Plan) -> Set<Int> {
    if entries.isSource { return [] }
    return pending.keepBegun(run: run) { position in
      // An entry that cannot be compared is done again.
      guard let entry = try? entries.plan.index.identity(at: position), let work = entry.work else { return false }
      return (try? plan.index.identity(named: entry.name))?.work == work
    }
  }

  /// Handles cancelled entries of closing runs. In suspended queues, their operations finish later.
  func takeCancelled(_ configuration: Configuration) {
    for (run, entries) in runs where entries.isClosing {
      for record in pending.takeIdle(run: run) { decide(on: record, configuration) }
    }
  }
}
