import JobIndex
import Model
import Scheduling

/// What follows when a job's index cannot be read, and entries that start later than their places say.
extension EntryScheduler {
  /// The index of a job cannot be read.
  struct IndexError: Error {
    let run: Int
    let cause: any Error
  }

  /// Does something that reads the index of a job. When that fails nothing of the job starts any more; what is in progress
  /// ends as it would.
  func withIndex<T>(of run: Int, now: Int, _ body: () throws -> T) throws(IndexError) -> T {
    do {
      return try body()
    } catch {
      stop(run: run, now: now)
      throw IndexError(run: run, cause: error)
    }
  }

  /// Stops starting entries of a job; what is in progress ends as it would.
  /// - Returns: How often entries were tried that have waited to be tried again, by position.
  @discardableResult
  func stop(run: Int, now: Int) -> [Int: Int] {
    jobs[run]?.isStopped = true
    hosts.remove(job: run, now: now)
    return attempts(run: run)
  }

  /// How often entries of a job were tried that have not started again, by position.
  private func attempts(run: Int) -> [Int: Int] {
    guard let job = jobs[run] else { return [:] }
    return job.waiting.mapValues(\.attempts).filter { $0.value > 0 }
  }

  /// Records that an entry that has started is not tried, because what it needs could not be read, or its job is cancelled.
  /// It is not scheduled again.
  func giveUp(_ id: PhotoRecord.ID, now: Int, backoff: Backoff) {
    notTried(id, now: now, backoff: backoff)
    finished(id, now: now)
  }

  /// Starts an entry that was taken out of the index, because it is to be the last.
  func admit(_ position: Int, of run: Int, now: Int) throws(IndexError) {
    guard let job = jobs[run] else { return }
    try withIndex(of: run, now: now) {
      guard let place = try job.index.place(of: position) else {
        throw StopError.broken("the index lacks entry \(position)")
      }
      let host = try job.hosts.number(ofHost: place.host, names: &names)
      let key = EntryKey(priority: place.key.priority, position: position)
      var history = job[waiting: position] ?? AttemptHistory(firstTried: now)
      history.setHosts(of: try job.entry(at: position))
      job.wait(position, history)
      let retry = Retry(key: key, host: host, hasMirror: history.hasMirror)
      hosts.retry(retry, job: run, due: now, now: now, allowance: allowance(of: host))
    }
  }
}
