import Dispatch
import Foundation
import Ledger
import Model
import Synchronization
import System

/// Does the `LedgerSweep` in bounded steps on a queue of its own, at most one per second.
///
/// Most entries of an ended run are removed when it ends, the others step by step, and then the run itself, since
/// removing a million rows in one commit would delay deliveries for seconds. The number of records that are examined
/// grows with the number of deliveries, so that the size of the ledger is bounded.
final class LedgerRetention: Sendable {
  private static let spacing = 1.0

  /// How long after an error the next step begins, in seconds.
  private static let retryTime = 60.0

  /// The time limit of a step, in seconds.
  private static let stepTime = 1.0

  private struct Shared {
    var due = LedgerSweep.Due()
    var isScheduled = false
    var lastStep: Double?
    var isClosed = false
    /// The position is not synced; without it the sweep begins anew.
    var position: LedgerSweep.Position
    var savedPosition: LedgerSweep.Position
  }

  private let sweep: LedgerSweep
  private let state: StateFolder
  private let queue = DispatchQueue(label: "Retention", qos: .utility)
  private let shared: Mutex<Shared>

  init(_ sweep: LedgerSweep, state: StateFolder) {
    self.sweep = sweep
    self.state = state
    let position =
      (try? OpenFile(reading: state.retention, followingLinks: false).readAll())
      .flatMap { try? JSONDecoder().decode(LedgerSweep.Position.self, from: $0) } ?? LedgerSweep.Position()
    shared = Mutex(Shared(position: position, savedPosition: position))
    // An earlier process may have left entries.
    schedule(after: Self.spacing)
  }

  /// Schedules a step after the end of a run.
  /// - Parameter delivered: The number of results that the run has delivered.
  func runEnded(delivered: Int) {
    let delay = shared.withLock { shared in
      shared.due.results += 2 * delivered + 64
      shared.due.lastRuns += 4
      return shared.lastStep.map { max(0, $0 + Self.spacing - Clock.monotonicSeconds) } ?? 0
    }
    schedule(after: delay)
  }

  private func schedule(after delay: Double) {
    let mustSchedule = shared.withLock { shared in
      defer { shared.isScheduled = true }
      return !shared.isScheduled && !shared.isClosed
    }
    guard mustSchedule else { return }
    queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.step() }
  }

  /// Does a last step, within its time limit.
  func close() {
    queue.sync {
      step()
      shared.withLock { $0.isClosed = true }
      save()
    }
  }

  /// Does a step. Errors are not reported, since other users of the ledger report them; the step is done again later.
  func step() {
    let began = Clock.monotonicSeconds
    let work: (due: LedgerSweep.Due, position: LedgerSweep.Position)? = shared.withLock { shared in
      guard shared.isScheduled, !shared.isClosed else { return nil }
      defer { (shared.due, shared.isScheduled, shared.lastStep) = (LedgerSweep.Due(), false, began) }
      return (shared.due, shared.position)
    }
    guard var (due, position) = work else { return }
    do {
      // Entries get half of the time, so that the rest is done in any case.
      let hasEntries = try sweep.removeEntries(until: began + Self.stepTime / 2)
      if hasEntries { schedule(after: Self.spacing) }
      if due.results > 0 {
        try sweep.examine(&due, &position, until: began + Self.stepTime) { records in
          try sweep.ledger.commit(records.map { .forget($0) })
        }
      }
      shared.withLock { shared in
        shared.position = position
        shared.due.results += due.results
        shared.due.lastRuns += due.lastRuns
      }
      if due.results > 0 { schedule(after: Self.spacing) }
      due = LedgerSweep.Due()
      try sweep.shrink(until: began + Self.stepTime)
    } catch {
      if error.isDamageOfLedger { return shared.withLock { $0.isClosed = true } }
      shared.withLock { shared in
        shared.due.results += due.results
        shared.due.lastRuns += due.lastRuns
      }
      schedule(after: Self.retryTime)
    }
  }

  private func save() {
    let (now, saved) = shared.withLock { ($0.position, $0.savedPosition) }
    guard now != saved, let data = try? JSONEncoder().encode(now) else { return }
    shared.withLock { $0.savedPosition = now }
    // Without the position the sweep begins anew.
    try? state.openFolder().replace(
      Folder.name(of: state.retention), with: String(decoding: data, as: UTF8.self), mode: 0o600)
  }
}
