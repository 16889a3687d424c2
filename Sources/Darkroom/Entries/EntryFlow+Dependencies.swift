import JobIndex
import Model
import Scheduling
import System

/// Entries that fail because others did: they hold no files.
struct FailingDependents {
  /// So many of them are on their way to the outbox at once.
  static let limit = 256

  /// What could not be recorded is tried again after so many milliseconds.
  static let pause = 1000

  /// Those on their way to the outbox.
  var inDelivery: Set<PhotoRecord.ID> = []

  /// The records for which there was no room.
  private(set) var rejected: [PhotoRecord] = []

  /// When these are tried again, in milliseconds; nil when there are none.
  private(set) var due: Int?

  /// How many more may be on their way.
  var room: Int { Self.limit - inDelivery.count }

  /// Keeps a record for which there was no room: it is delivered after a while.
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
}

/// Entries that fail because others have, or as another of their variants: they have no operations, and only a row.
extension EntryFlow {
  /// Fails entries that come after one that has not succeeded.
  func failDependents() {
    guard !scheduler.dependentRuns.isEmpty, mayStart else { return }
    let now = Clock.monotonicMilliseconds
    // A run of which nothing starts any more writes them itself.
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
            failing.entry, run: plan.run, mirror: other?.mirror ?? 0, attempts: other?.snapshot.attempts ?? 0,
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

  /// Records that the row of an entry is durable, for those that come after it.
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
