import JobIndex
import Model
import Scheduling

/// Handles unreadable indexes, and starts entries that were taken out of the order.
extension EntryScheduler {
  /// An error for a job's unreadable index.
  struct IndexError: Error {
    let run: Int
    let cause: any Error
  }

  /// Runs a closure that reads the index of a job. On an error, no more entries of the job start; those in progress end
  /// normally.
  func withIndex<T>(of run: Int, now: Int, _ body: () throws -> T) throws(IndexError) -> T {
    do {
      return try body()
    } catch {
      stop(run: run, now: now)
      throw IndexError(run: run, cause: error)
    }
  }

  /// Stops starting entries of a job. Those in progress end normally.
  /// - Returns: The numbers of tries of waiting and deferred entries, by position.
  @discardableResult
  func stop(run: Int, now: Int) -> [Int: Int] {
    jobs[run]?.isStopped = true
    hosts.remove(job: run, now: now)
    return attempts(run: run)
  }

  /// The numbers of tries of waiting and deferred entries of a job, by position.
  private func attempts(run: Int) -> [Int: Int] {
    guard let job = jobs[run] else { return [:] }
    let deferred = job.deferred.entries.map { ($0.position, $0.attempts) }
    return job.waiting.mapValues(\.attempts).merging(deferred, uniquingKeysWith: max).filter { $0.value > 0 }
  }

  /// Finishes an entry that has started and is not tried, because its data cannot be read or its job is cancelled. It
  /// is not scheduled again.
  func giveUp(_ id: PhotoRecord.ID, now: Int, backoff: Backoff) {
    notTried(id, now: now, backoff: backoff)
    finished(id, now: now)
  }

  /// Ranks an entry that was taken out of the index because it starts last.
  func admit(_ position: Int, of run: Int, now: Int) throws(IndexError) {
    guard let job = jobs[run] else { return }
    try withIndex(of: run, now: now) {
      guard let found = try job.index.hostAndKey(of: position) else {
        throw StopError.broken("the index lacks entry \(position)")
      }
      let host = try job.hosts.number(ofHost: found.host, names: &names)
      let key = EntryKey(priority: found.key.priority, position: position)
      var history = job[waiting: position] ?? AttemptHistory(firstTried: now)
      history.setHosts(of: try job.entry(at: position))
      job.wait(position, history)
      let retry = Retry(key: key, host: host, hasMirror: history.hasMirror)
      hosts.retry(retry, job: run, due: now, now: now, allowance: allowance(of: host))
    }
  }
}
