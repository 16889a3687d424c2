import Scheduling
import System

/// Entries that fail because others have, or as another of their variants: they have no operations, and only a row.
extension LiveJobs {
  /// So many of them are on their way to the outbox at once.
  static let failingLimit = 256

  /// What could not be recorded is tried again after so many milliseconds.
  static let failingPause = 1000

  /// Has entries fail that come after one that has not succeeded.
  func failDependents() {
    guard !scheduler.dependentRuns.isEmpty, mayStart else { return }
    let now = Clock.monotonicMilliseconds
    redeliverDependents(now: now)
    for number in scheduler.dependentRuns {
      guard let plan = runs[number]?.plan, failingDependents.count < Self.failingLimit else { continue }
      do throws(EntryScheduler.IndexError) {
        let limit = Self.failingLimit - failingDependents.count
        for failing in try scheduler.takeFailingDependents(run: number, limit: limit, now: now) {
          let lastFailure = try scheduler.withIndex(of: number, now: now) {
            plan.hasFailures ? try plan.index.failure(failing.entry.name) : nil
          }
          let other = failing.other
          let record = PhotoRecord(
            failing.entry, run: plan.run, mirror: other?.mirror ?? 0, attempts: other?.snapshot.attempts ?? 0,
            lastFailure: lastFailure, earlierMirrors: other?.earlierMirrors ?? [], firstTried: other?.firstTried)
          record.fail(failing.failure)
          failingDependents.insert(record.id)
          deliver(record)
        }
      } catch {
        indexFailed(error)
      }
    }
  }

  /// Has a row recorded again after a while for which there was no room.
  func keepDependent(_ record: PhotoRecord) {
    if rejectedDependents.isEmpty { rejectedDependentsDue = Clock.monotonicMilliseconds + Self.failingPause }
    rejectedDependents.append(record)
  }

  private func redeliverDependents(now: Int) {
    guard !rejectedDependents.isEmpty, now >= rejectedDependentsDue else { return }
    let records = rejectedDependents
    rejectedDependents.removeAll()
    // A run of which nothing starts any more writes them itself.
    for record in records where scheduler.jobs[record.run.number]?.isStopped == false {
      failingDependents.insert(record.id)
      deliver(record)
    }
  }

  /// Has the other variants of an entry start whose download has succeeded.
  func startVariants(of record: PhotoRecord, _ source: PhotoRecord.Source) {
    do throws(EntryScheduler.IndexError) {
      try scheduler.startVariants(of: record, source, now: Clock.monotonicMilliseconds)
    } catch {
      indexFailed(error)
    }
  }

  /// Records that the row of an entry is durable, for those that come after it.
  func dependencyEnded(_ record: PhotoRecord, _ row: ReportRow) {
    failingDependents.remove(record.id)
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
