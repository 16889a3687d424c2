import Delivery
import Model
import Operations
import System

/// Entries that wait for the machine, and indexes that cannot be read.
extension EntryFlow {
  /// Tries an entry again when there is space for its files.
  func waitForSpace(_ record: PhotoRecord) {
    let now = Clock.monotonicMilliseconds
    scheduler.retry(record.id, attempts: nil, due: now, now: now)
    // A failure from before the end of the last pause may be reported after the queues are resumed. It does not
    // describe the present.
    let seconds = Clock.monotonicSeconds
    guard record.failedAt ?? seconds >= suspension.failures.diskFullUntil else { return }
    suspension.waitForSpace(now: seconds)
  }

  /// Tries an entry again later, after the machine has failed.
  func waitForMachine(_ record: PhotoRecord, _ error: any Error) {
    let seconds = Clock.monotonicSeconds
    holds.hold(.entry(record.id), "\(error)", now: seconds)
    let wait = (holds[.entry(record.id)]?.due ?? seconds) - seconds
    let now = Clock.monotonicMilliseconds
    scheduler.retry(record.id, attempts: nil, due: now + Int(wait * 1000), now: now)
    suspension.failures.suspect(error)
  }

  /// Records the number of results that cannot be delivered now, and what is in their way, by run. A run with many of them starts no
  /// more entries: their files and rows would fill the disk and the memory.
  func setHeld(_ count: Int, _ obstacles: [Int: DeliveryQueue.Obstacle]) {
    held = count
    scheduler.pause(runs: Set(obstacles.filter { $0.value.results >= Holds.entryLimit }.keys))
    for (number, entries) in runs {
      guard let error = obstacles[number]?.error else {
        holds.release(.results(number))
        continue
      }
      guard holds.hold(.results(number), "\(error)", now: Clock.monotonicSeconds) else { continue }
      observe(
        .warning("results of job \(entries.plan.job.name) cannot be delivered now, and are tried again: \(error)"))
    }
    if let obstacle = obstacles.values.first { suspension.failures.suspect(obstacle.error) }
  }

  /// Records the number of tries of an entry that gets no row, because its run is closing.
  func countAsCancelled(_ record: PhotoRecord, _ entries: RunEntries) {
    entries.attempts[record.entry.position] = record.attempts
    // Operations may retain the record until their queue is resumed.
    _ = record.takePartial()
  }

  // MARK: Indexes

  /// Records that the index of a run cannot be read. None of its entries starts any more.
  func indexFailed(_ error: EntryScheduler.IndexError) { unreadable[error.run] = error.cause }

  /// Removes and returns the runs with unreadable indexes that have no operations and deliveries left, with the errors.
  func takeUnreadable() -> [Int: any Error] {
    guard !unreadable.isEmpty else { return [:] }
    let busy = Set(pending.inProgress.keys.map(\.run)).union(runs.filter { $0.value.undelivered > 0 }.keys)
    let idle = unreadable.filter { !busy.contains($0.key) }
    for run in idle.keys { unreadable[run] = nil }
    return idle
  }
}
