import Scheduling
import Testing
import TestSupport

@testable import Darkroom
@testable import JobIndex
@testable import Model

/// An index that cannot be read is its job's affair.
@Suite struct IndexErrorTests {
  @Test func `the other jobs go on, and nothing of that job starts any more`() throws {
    let jobs = ScheduledJobs()
    try jobs.add(1, urls: [["http://h/a"], ["http://h/b"], ["http://g/c"]])
    try jobs.add(2, urls: [["http://h/d"], ["http://g/e"]])
    let first = try #require(try jobs.next(perHost: 8))
    try #require(jobs.scheduler.jobs[first.run]).index.database.execute("DROP TABLE entries")
    let other = first.run == 1 ? 2 : 1
    var (started, failed): ([Int], [Int]) = ([], [])
    for _ in 0..<6 {
      do {
        guard let next = try jobs.next(perHost: 8) else { break }
        started.append(next.run)
      } catch let error as EntryScheduler.IndexError {
        failed.append(error.run)
      }
    }
    #expect(failed == [first.run], "it is reported once")
    #expect(Set(started) == [other])
    #expect(jobs.scheduler.nextChange == nil)
    // What is in progress ends, and its host has room again.
    _ = jobs.scheduler.downloadEnded(first.id, HostUsage(), .none, now: 1, backoff: Backoff(retries: 0))
    jobs.scheduler.retry(first.id, attempts: 1, due: 1, now: 1)
    jobs.scheduler.remove(run: first.run)
    #expect(try jobs.next(perHost: 8, now: 10) == nil)
  }
}
