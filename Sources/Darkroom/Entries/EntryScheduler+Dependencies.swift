import JobIndex
import Model
import Scheduling

/// Entries that depend on others. They are outside the ranking until the rows of these are durable, since even a
/// complete result may fail with `name-conflict`.
extension EntryScheduler {
  /// An entry that fails because a dependency has not succeeded, or because another of its variants failed.
  struct FailingDependent {
    let entry: Entry
    let failure: EntryFailure

    /// The record of the other variant; nil when there is none.
    var other: PhotoRecord?
  }

  /// Records that the row of an entry is durable. Its dependents may start, or fail.
  func dependencyEnded(_ id: PhotoRecord.ID, hasSucceeded: Bool) {
    guard dependentRuns.contains(id.run) else { return }
    jobs[id.run]?.dependencies?.ended(id.position, hasSucceeded: hasSucceeded)
  }

  /// Releases or fails a page of the dependents of ended entries.
  func tellDependents(_ run: Int, _ job: JobEntries, now: Int) throws {
    let released =
      try job.dependencies?.advance(
        dependents: { try job.index.dependents(of: $0, after: $1, limit: DependencyTracker.pageSize) },
        dependencies: job.index.dependencyCount) ?? []
    for entry in released {
      let host = try job.hosts.number(ofHost: entry.host, names: &names)
      hosts.release(entry.key, job: run, host: host, now: now, allowance: allowance(of: host))
    }
  }

  /// Whether dependents of ended entries must still be released or failed.
  var hasDependentsToTell: Bool {
    dependentRuns.contains { run in jobs[run].map { !$0.isStopped && $0.dependencies?.hasWork == true } == true }
  }

  /// The number of entries of a job that wait for others.
  func waitingForOthers(run: Int) -> Int {
    (jobs[run]?.dependencies?.waiting ?? 0) + (jobs[run]?.variants?.count ?? 0)
  }

  /// Removes and returns entries of a job that fail because others failed.
  /// - Throws: `IndexError`.
  func takeFailingDependents(run: Int, limit: Int, now: Int) throws(IndexError) -> [FailingDependent] {
    guard let job = jobs[run], !job.isStopped,
      job.dependencies?.hasFailing == true || job.variants?.failing.isEmpty == false
    else { return [] }
    return try withIndex(of: run, now: now) {
      let variants = Array((job.variants?.failing ?? []).prefix(limit))
      job.variants?.failing.removeFirst(variants.count)
      let failing = job.dependencies?.takeFailing(limit: limit - variants.count) ?? []
      return try variants.map { variant in
        FailingDependent(entry: try job.entry(at: variant.position), failure: variant.failure, other: variant.other)
      }
        + failing.map { failing in
          let cause = failing.cause == failing.dependency ? nil : try name(of: failing.cause, in: job)
          return FailingDependent(
            entry: try job.entry(at: failing.position),
            failure: .dependency(try name(of: failing.dependency, in: job), cause: cause))
        }
    }
  }

  private func name(of position: Int, in job: JobEntries) throws -> String {
    guard let name = try job.index.shownName(at: position) else {
      throw StopError.broken("the index lacks entry \(position)")
    }
    return name
  }
}
