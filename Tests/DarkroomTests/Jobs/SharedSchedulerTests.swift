import Testing

@testable import Darkroom

/// Several jobs share one `EntryScheduler`.
@Suite struct SharedSchedulerTests {
  private typealias ID = PhotoRecord.ID
  private let jobs = ScheduledJobs()

  @Test func `jobs start entries in turn, each in the order of its manifest`() throws {
    for run in 1...3 { try jobs.add(run, (0..<4).map { ("h\(run)-\($0)", 2) }) }
    let started = try jobs.startAll()
    #expect(started.count == 12)
    for run in 1...3 { #expect(started.filter { $0.run == run }.map(\.position) == [0, 1, 2, 3]) }
    for round in 0..<4 { #expect(Set(started[round * 3..<round * 3 + 3].map(\.run)) == [1, 2, 3]) }
  }

  @Test func `a job of one entry beside one of a thousand comes second at the latest`() throws {
    try jobs.add(1, Array(repeating: ("", 2), count: 1000))
    #expect(try jobs.next()?.run == 1)
    try jobs.add(2, [("", 2)])
    #expect(try [jobs.next()?.run, jobs.next()?.run].contains(2))
  }

  @Test func `the higher priority comes first, whichever job it is of`() throws {
    try jobs.add(1, [("a", 2), ("b", 2), ("c", 0)])
    try jobs.add(2, [("d", 4), ("e", 0)])
    try jobs.add(3, [("f", 1)])
    let started = try jobs.startAll()
    #expect(Set(started.prefix(2)) == [ID(run: 1, position: 2), ID(run: 2, position: 1)])
    #expect(started[2] == ID(run: 3, position: 0))
    #expect(started.last == ID(run: 2, position: 0))
  }

  @Test func `the limit of a host holds across jobs, and those of other hosts go past it`() throws {
    for run in 1...3 { try jobs.add(run, [("a", 2), ("a", 2), ("b\(run)", 2)]) }
    let started = try jobs.startAll(perHost: 2)
    #expect(started.count { $0.position < 2 } == 2, "\(started)")
    #expect(started.filter { $0.position == 2 }.map(\.run).sorted() == [1, 2, 3])
    var first = try #require(started.first { $0.position < 2 })
    for _ in 0..<4 {
      jobs.finish(first.position, run: first.run)
      let next = try jobs.startAll(perHost: 2)
      #expect(next.count == 1, "as many as there is room for")
      first = try #require(next.first)
    }
    jobs.finish(first.position, run: first.run)
    #expect(try jobs.startAll(perHost: 2).isEmpty)
  }

  @Test func `a host that refused one job is not asked for another, and its probe is one for all`() throws {
    for run in 1...2 { try jobs.add(run, [("a", 2), ("a", 2)]) }
    let first = try #require(try jobs.next())
    #expect(jobs.downloadEnded(first.id.position, run: first.run, .refused(0.5)) == 0.5)
    #expect(try jobs.startAll(now: 100).isEmpty)
    for run in 1...2 { #expect(jobs.heldHosts(run: run, now: 100) == ["a"]) }
    #expect(jobs.scheduler.nextChange == 500)
    #expect(try jobs.startAll(perHost: 6, now: 500).count == 1)
  }

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

  @Test func `what runs when its job is removed still counts for its host, and ends without consequences`() throws {
    for run in 1...2 { try jobs.add(run, [("a", 2), ("a", 2)]) }
    let first = try #require(try jobs.next(perHost: 1))
    jobs.scheduler.remove(run: first.run)
    #expect(try jobs.startAll(perHost: 1).isEmpty)
    #expect(jobs.scheduler.transfers(run: first.run).total.requests == 0)
    jobs.finish(first.id.position, run: first.run)
    #expect(try jobs.startAll(perHost: 1).map { $0.run != first.run } == [true], "there is room again")
  }

  @Test func `the retries of a removed job are not started`() throws {
    for run in 1...2 { try jobs.add(run, [("a\(run)", 2)]) }
    #expect(try jobs.startAll().count == 2)
    for run in 1...2 {
      jobs.downloadEnded(0, run: run)
      jobs.retry(0, run: run, attempts: 1, due: 10)
    }
    jobs.scheduler.remove(run: 1)
    #expect(try jobs.startAll(now: 10) == [ID(run: 2, position: 0)])
  }

  @Test func `a host that refused a job that has gone is held for the next, then probed, and others are not`() throws {
    try jobs.add(1, [("a", 2), ("a", 2)])
    #expect(try jobs.next(perHost: 6)?.entry.position == 0)
    jobs.downloadEnded(0, .refused(0.5))
    jobs.scheduler.remove(run: 1)
    try jobs.add(2, [("b", 2), ("a", 2), ("a", 2), ("a", 2)])
    #expect(try jobs.startAll(now: 100) == [ID(run: 2, position: 0)])
    #expect(jobs.scheduler.nextChange == 500)
    #expect(jobs.heldHosts(run: 2, now: 100) == ["a"])
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
      #expect(hosts.map(\.host) == ["a"] && hosts.first?.counts.bytes == run)
      jobs.scheduler.remove(run: run)
    }
  }
}
