import Scheduling
import Testing

@testable import Darkroom
@testable import JobIndex
@testable import Model

/// Deferred entries among the others.
@Suite struct DeferredEntriesTests {
  private let jobs = ScheduledJobs()

  private func postpone(_ position: Int, run: Int = 1, attempts: Int = 1, wait: Int, now: Int = 0) -> DeferredEntry? {
    jobs.downloadEnded(position, run: run, .none, now: now)
    return jobs.scheduler.postpone(
      PhotoRecord.ID(run: run, position: position), attempts: attempts, wait: wait, now: now)
  }

  @Test func `a deferred entry is out of the way until it is due, and is then tried with its first URL`() throws {
    try jobs.add(1, urls: [["http://a/", "http://b/"], ["http://a/1"], ["http://a/2"]])
    #expect(try jobs.start(perHost: 1, now: 10) == [0])
    jobs.downloadEnded(0, .none, now: 20)
    try jobs.useMirror(0, "http://b/", attempts: 1, now: 20)
    #expect(try jobs.start(perHost: 1, now: 20) == [0, 1])
    let deferred = try #require(postpone(0, attempts: 2, wait: 500, now: 30))
    #expect(deferred == DeferredEntry(position: 0, attempts: 2, due: 530, firstTried: 10))
    #expect(jobs.scheduler.deferred(run: 1).count == 1)
    #expect(jobs.scheduler.deferred(run: 1).nextDue == 530)
    #expect(jobs.scheduler.nextChange == 530)
    #expect(jobs.scheduler.waitingRetries(run: 1) == 0)
    jobs.finish(1)
    #expect(try jobs.start(perHost: 1, now: 529) == [2])
    jobs.finish(2)
    let next = try #require(try jobs.next(perHost: 1, now: 530))
    #expect(next.entry.position == 0 && next.history.attempts == 2 && next.history.mirror == 0)
    #expect(jobs.scheduler.deferred(run: 1).count == 0)
    let started = try #require(jobs.scheduler.started(next.id))
    #expect(started.key.wasDeferred && started.firstTried == 10 && jobs.uncounted(0) == 2)
    jobs.finish(0)
    #expect(try jobs.start(now: 9999) == [] && jobs.scheduler.nextChange == nil)
  }

  @Test func `the tries of deferred entries are known when their job is cancelled`() throws {
    try jobs.add(1, [("a", 2), ("a", 2), ("b", 2)])
    #expect(try jobs.start() == [0, 1, 2])
    _ = postpone(0, attempts: 3, wait: 100)
    jobs.downloadEnded(1, .none)
    jobs.retry(1, attempts: 1, due: 50, now: 0)
    #expect(jobs.scheduler.stop(run: 1, now: 10) == [0: 3, 1: 1])
  }

  @Test func `a deferred entry whose host is held waits for the host, and keeps its age`() throws {
    try jobs.add(1, [("a", 2), ("a", 2)])
    #expect(try jobs.start() == [0, 1])
    _ = postpone(0, wait: 100)
    #expect(jobs.downloadEnded(1, .refused(5), now: 50) == 5)
    jobs.retry(1, attempts: 1, isRefused: true, due: 5050, now: 50)
    #expect(try jobs.start(now: 100) == [])
    #expect(try jobs.start(now: 5050) == [1], "the other is retried, not deferred")
    jobs.finish(1, now: 5060)
    #expect(try jobs.start(now: 5200) == [0])
    #expect(postpone(0, attempts: 2, wait: 200, now: 5210)?.firstTried == 0)
  }

  @Test func `those that an earlier process deferred are not new entries`() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill {
      for position in 0..<3 { try index.insert(try Entry.sample(position, url: "http://a/\(position)")) }
      try index.markEnded(1)
    }
    try index.prepareHosts()
    let deferred = DeferredEntry(position: 1, attempts: 5, due: 700, firstTried: -300)
    jobs.scheduler.add(run: 1, index, deferred: [deferred])
    #expect(try jobs.start(perHost: 9, now: 0) == [0, 2])
    for position in [0, 2] { jobs.finish(position) }
    let next = try #require(try jobs.next(now: 700))
    #expect(next.entry.position == 1 && next.history.attempts == 5)
    #expect(jobs.scheduler.started(next.id)?.firstTried == -300)
  }

  @Test func `a thousand that are due at once are all tried, at a held host, too`() throws {
    try jobs.add(1, Array(repeating: ("a", 2), count: 1000) + [("b", 2)])
    for _ in 0..<1001 {
      let next = try #require(try jobs.next(perHost: 2000))
      _ = postpone(next.entry.position, wait: 100)
    }
    #expect(jobs.scheduler.deferred(run: 1).count == 1001)
    #expect(try Set(jobs.start(perHost: 1, now: 100)) == [0, 1000], "one of each host")
    var tried = 2
    jobs.finish(0, now: 100)
    jobs.finish(1000, now: 100)
    while let next = try jobs.next(perHost: 1, now: 100) {
      jobs.finish(next.entry.position, now: 100)
      tried += 1
    }
    #expect(tried == 1001)
    #expect(jobs.scheduler.deferred(run: 1).count == 0)
  }

  @Test func `a deferred entry that is due comes after those of its job that were not tried, at every host`() throws {
    try jobs.add(1, [("a", 2), ("a", 2), ("b", 2), ("b", 2), ("c", 3)])
    let first = try #require(try jobs.next(perHost: 1))
    _ = postpone(first.entry.position, wait: 100)
    var order: [Int] = []
    while let next = try jobs.next(perHost: 1, now: 100) {
      order.append(next.entry.position)
      jobs.finish(next.entry.position, now: 100)
    }
    #expect(first.entry.position == 0 && order == [1, 2, 3, 0, 4], "priorities count more")
  }

  @Test func `a job that goes takes its deferred entries with it`() throws {
    try jobs.add(1, [("a", 2)])
    #expect(try jobs.start() == [0])
    _ = postpone(0, wait: 100)
    jobs.scheduler.remove(run: 1)
    #expect(jobs.scheduler.nextChange == nil)
    #expect(try jobs.startAll(now: 1000).isEmpty)
    #expect(postpone(0, wait: 100) == nil)
  }
}
