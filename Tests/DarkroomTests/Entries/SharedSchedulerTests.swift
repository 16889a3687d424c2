import Testing

@testable import Darkroom
@testable import Model

/// Several jobs share one `EntryScheduler`.
@Suite struct SharedSchedulerTests {
  private typealias ID = PhotoRecord.ID
  private let jobs = ScheduledJobs()

  @Test func `retries and transfers are counted for their job, and a retry counts for the host of all`() throws {
    for run in 1...2 { try jobs.add(run, [("a", 2)]) }
    #expect(try jobs.startAll(perHost: 2).count == 2)
    jobs.downloadEnded(0, run: 1, .none, .request(bytes: 3))
    jobs.retry(0, run: 1, attempts: 1, due: 100)
    #expect([1, 2].map { jobs.scheduler.waitingRetries(run: $0) } == [1, 0])
    #expect(try jobs.startAll(perHost: 1, now: 100).isEmpty, "the other job has the place")
    jobs.downloadEnded(0, run: 2, .served, .request(bytes: 5), now: 100)
    #expect(try jobs.startAll(perHost: 1, now: 100) == [ID(run: 1, position: 0)])
    #expect([1, 2].map { jobs.scheduler.transfers(run: $0).total.bytes } == [3, 5])
  }

  @Test func `a mirror of one job at the host of another shares its room`() throws {
    try jobs.add(1, urls: [["http://a/1", "http://b/1"]])
    try jobs.add(2, [("b", 2)])
    #expect(try jobs.startAll(perHost: 1).count == 2)
    jobs.downloadEnded(0, run: 1)
    try jobs.useMirror(0, run: 1, "http://b/1", attempts: 1)
    #expect(try jobs.startAll(perHost: 1).isEmpty)
    jobs.finish(0, run: 2)
    let next = try #require(try jobs.next(perHost: 1))
    #expect(next.run == 1 && next.history.mirror == 1)
  }

  @Test func `a host that refused a job that has gone is held for the next, then probed, and others are not`() throws {
    try jobs.add(1, [("a", 2), ("a", 2)])
    #expect(try jobs.next(perHost: 6)?.entry.position == 0)
    jobs.downloadEnded(0, .refused(0.5))
    jobs.scheduler.remove(run: 1)
    try jobs.add(2, [("b", 2), ("a", 2), ("a", 2), ("a", 2)])
    #expect(try jobs.startAll(now: 100) == [ID(run: 2, position: 0)])
    #expect(jobs.scheduler.nextChange == 500)
    #expect(jobs.heldHosts(run: 2, now: 100) == ["http://a"])
    #expect(try jobs.startAll(now: 500) == [ID(run: 2, position: 1)], "one probe")
    jobs.downloadEnded(1, run: 2, now: 510)
    #expect(try jobs.startAll(perHost: 6, now: 10_000) == [ID(run: 2, position: 2)], "and then one after the other")
  }

  @Test func `hosts get numbers that hold for all jobs, whatever numbers their indexes give them`() throws {
    try jobs.add(1, [("a", 2), ("b", 2), ("c", 2)])
    try jobs.add(2, [("c", 2), ("b", 2), ("a", 2)])
    let started = try jobs.startAll(perHost: 1)
    #expect(started.count == 3, "a, b and c, once each")
    let hosts = started.map { $0.run == 1 ? $0.position : 2 - $0.position }
    #expect(Set(hosts) == [0, 1, 2])
    for id in started { jobs.finish(id.position, run: id.run) }
    #expect(try Set(jobs.startAll(perHost: 1) + started).count == 6)
  }

  @Test func `a host that was forgotten is known again by its name`() throws {
    for run in 1...50 {
      try jobs.add(run, [("a", 2), ("b\(run)", 2)])
      #expect(try jobs.startAll(perHost: 1).count == 2)
      jobs.downloadEnded(0, run: run, .served, .request(bytes: run))
      for position in 0...1 { jobs.finish(position, run: run) }
      let hosts = jobs.scheduler.transfers(run: run).hosts.filter { $0.counts.requests > 0 }
      #expect(hosts.map(\.host) == ["http://a"] && hosts.first?.counts.bytes == run)
      jobs.scheduler.remove(run: run)
    }
  }
}
