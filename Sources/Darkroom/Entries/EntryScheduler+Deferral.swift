import JobIndex
import Model
import Scheduling

/// Deferred entries, which are in a queue of their job, outside the ranking, until they are due.
extension EntryScheduler {
  /// Defers an entry in progress.
  /// - Parameters:
  ///   - attempts: The number of tries so far.
  ///   - wait: The time until it is due, in milliseconds.
  /// - Returns: nil when its job was removed.
  func postpone(_ id: PhotoRecord.ID, attempts: Int, wait: Int, now: Int) -> DeferredEntry? {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return nil }
    let deferred = DeferredEntry(
      position: id.position, attempts: attempts, due: now + wait, firstTried: entry.firstTried)
    job.removeStarted(id.position)
    job.deferred.insert(deferred)
    finished(id.run, job, at: entry.host, now)
    return deferred
  }

  /// Ranks deferred entries that are due, beginning with their first URL.
  func resumeDeferred(_ run: Int, _ job: JobEntries, now: Int) throws {
    for due in try job.deferred.takeDue(now: now, hostAndKey: job.index.hostAndKey) {
      let host = try job.hosts.number(ofHost: due.host, names: &names)
      var history = AttemptHistory(due.entry)
      history.setHosts(of: try job.entry(at: due.entry.position))
      job.wait(due.entry.position, history)
      let retry = Retry(key: due.key, host: host, tries: max(1, due.entry.attempts), hasMirror: history.hasMirror)
      hosts.retry(retry, job: run, due: now, now: now, allowance: allowance(of: host))
    }
  }

  /// The number of deferred entries of a job, and when the next one becomes due.
  func deferred(run: Int) -> (count: Int, nextDue: Int?) {
    guard let job = jobs[run] else { return (0, nil) }
    return (job.deferred.count, job.deferred.nextDue)
  }

  /// Whether no entry of a job is in progress.
  func isIdle(run: Int) -> Bool { jobs[run].map { $0.inProgress == 0 } ?? true }

  /// Whether all entries left of a job are at hosts that are not asked for some time.
  /// - Parameter seconds: That time, unless the host is closed.
  func isHeld(run: Int, for seconds: Double, now: Int) -> Bool {
    jobs[run]?.hosts.needsUpcoming == false && hosts.isHeld(job: run, until: now + Int(seconds * 1000))
  }

  /// An entry in progress; nil when it is not in progress.
  func started(_ id: PhotoRecord.ID) -> JobEntries.Started? { jobs[id.run]?[started: id.position] }
}
