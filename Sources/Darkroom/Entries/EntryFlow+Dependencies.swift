import JobIndex
import Model
import System

/// Entries that fail because their dependencies failed. They hold no files.
struct FailingDependents {
  /// The most entries that are being delivered at once.
  static let limit = 256

  /// The pause before a rejected record is delivered again, in milliseconds.
  static let pause = 1000

  /// The entries that are being delivered.
  var inDelivery: Set<PhotoRecord.ID> = []

  /// The records that were rejected because there was no space.
  private(set) var rejected: [PhotoRecord] = []

  /// When the rejected records are due, in milliseconds; nil when there are none.
  private(set) var due: Int?

  /// How many more entries may be delivered.
  var room: Int { Self.limit - inDelivery.count }

  /// Keeps a record for which there was no space. It is delivered later.
  mutating func reject(_ record: PhotoRecord, now: Int) {
    due = due ?? now + Self.pause
    rejected.append(record)
  }

  /// Removes and returns the rejected records when they are due.
  mutating func takeRejected(now: Int) -> [PhotoRecord] {
    guard let due, now >= due else { return [] }
    defer { (rejected, self.due) = ([], nil) }
    return rejected
  }

  /// Drops the rejected records of a run that is removed, so that nothing is due for it.
  mutating func remove(run: Int) {
    rejected.removeAll { $0.run.number == run }
    if rejected.isEmpty { due = nil }
  }
}

/// Entries that fail because a dependency or another of their variants failed. They have no operations, only a row.
extension EntryFlow {
  /// Fails entries whose dependencies have not succeeded.
  func failDependents() {
    guard !scheduler.dependentRuns.isEmpty, mayStart else { return }
    let now = Clock.monotonicMilliseconds
    // A stopped run writes these rows itself.
    for record in dependents.takeRejected(now: now) where scheduler.jobs[record.run.number]?.isStopped == false {
      fail(record)
    }
    for number in scheduler.dependentRuns {
      guard let plan = runs[number]?.plan, dependents.room > 0 else { continue }
      do throws(EntryScheduler.IndexError) {
        for failing in try scheduler.takeFailingDependents(run: number, limit: dependents.room, now: now) {
          let lastFailure = try scheduler.withIndex(of: number, now: now) {
            plan.earlier.hasFailures ? try plan.index.failure(failing.entry.name) : nil
          }
          let other = failing.other
          let record = PhotoRecord(
            failing.entry, run: plan.run, mirror: other?.mirror ?? 0, attempts: other?.attempts ?? 0,
            lastFailure: lastFailure, earlierMirrors: other?.earlierMirrors ?? [], firstTried: other?.firstTried)
          record.fail(failing.failure)
          fail(record)
        }
      } catch {
        indexFailed(error)
      }
    }
  }

  private func fail(_ record: PhotoRecord) {
    dependents.inDelivery.insert(record.id)
    deliver(record)
  }

  /// Starts the other variants of an entry whose download has succeeded.
  func startVariants(of record: PhotoRecord, _ source: PhotoRecord.Source) {
    do throws(EntryScheduler.IndexError) {
      try scheduler.startVariants(of: record, source, now: Clock.monotonicMilliseconds)
    } catch {
      indexFailed(error)
    }
  }

  /// Records for the dependents of an entry that its row is durable.
  func dependencyEnded(_ record: PhotoRecord, _ row: ReportRow) {
    dependents.inDelivery.remove(record.id)
    guard !scheduler.dependentRuns.isEmpty else { return }
    scheduler.dependencyEnded(record.id, hasSucceeded: row.state == .filtered)
    guard record.entry.firstRow != nil, row.state != .filtered else { return }
    do throws(EntryScheduler.IndexError) {
      try scheduler.failVariants(of: record, now: Clock.monotonicMilliseconds)
    } catch {
      indexFailed(error)
    }
  }
}
