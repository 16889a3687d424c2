import Testing

@testable import Darkroom
@testable import Model

/// One job's entries.
@Suite struct EntrySchedulerTests {
  private let jobs = ScheduledJobs()

  @Test(arguments: [1, 2, 700])
  func `entries of many hosts come by priority, then in manifest order`(hosts: Int) throws {
    let ranks = (0..<1500).map { ($0 * 7919) % 5 }
    try jobs.add(1, ranks.enumerated().map { ("h\($0 % hosts)", $1) })
    let expected = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    #expect(try jobs.everything() == expected)
  }

  @Test func `what ended before the start is not begun`() throws {
    try jobs.add(
      1, Array(repeating: ("h", 2), count: 600), ended: Set(stride(from: 0, to: 600, by: 2)))
    #expect(try jobs.everything() == Array(stride(from: 1, to: 600, by: 2)))
  }

  @Test func `a host's entries are begun as it has room, those of others meanwhile`() throws {
    try jobs.add(1, [("a", 2), ("a", 2), ("a", 2), ("A", 2), ("b", 2), ("b:80", 2), ("b", 2), ("b:8080", 2)])
    #expect(try jobs.start() == [0, 1, 4, 5, 7], "another port is another host")
    jobs.downloadEnded(1)
    #expect(try jobs.start() == [2])
    jobs.downloadEnded(4)
    jobs.downloadEnded(4)
    #expect(try jobs.start() == [6], "a download ends once")
  }

  @Test func `files have no host and no limit`() throws {
    try jobs.add(1, Array(repeating: ("", 2), count: 50))
    #expect(try jobs.start().count == 50)
  }

  @Test func `without a name server files and hosts that have answered do not wait behind others`() throws {
    try jobs.add(2, [("known", 2)])
    #expect(try jobs.startAll().map(\.run) == [2])
    jobs.downloadEnded(0, run: 2, .served, .contact(.answered(firstByte: nil, isMultiplexed: false)))
    try jobs.add(1, [("a", 2), ("b", 2)] + (0..<600).map { ("new\($0)", 2) } + [("", 2), ("known", 2), ("last", 2)])
    #expect(try (0..<2).map { _ in try jobs.next()?.entry.position } == [0, 1])
    for position in 0...1 {
      jobs.downloadEnded(position, .none, .contact(.failed(.unresolved)))
      jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 0)
    }
    #expect(try jobs.start() == [602, 603])
    #expect(try jobs.start(now: 1000).count == 1, "one tries whether there is a name server again")
  }

  @Test func `a retry waits for its time, then comes before what follows it in the manifest`() throws {
    try jobs.add(1, Array(repeating: ("a", 2), count: 4))
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.downloadEnded(0)
    jobs.retry(0, attempts: 1, due: 1000)
    #expect(jobs.scheduler.waitingRetries(run: 1) == 1)
    #expect(jobs.scheduler.nextChange == 1000)
    #expect(try jobs.start(perHost: 1, now: 999) == [1])
    jobs.downloadEnded(1)
    let next = try #require(try jobs.next(perHost: 1, now: 1000))
    #expect(next.entry.position == 0 && next.history.attempts == 1)
    #expect(jobs.scheduler.waitingRetries(run: 1) == 0)
  }

  @Test func `a retry that is due and finds no room is not waited for`() throws {
    try jobs.add(1, Array(repeating: ("a", 2), count: 3))
    for (position, due) in [(0, 100), (1, 200)] {
      #expect(try jobs.start(perHost: 1) == [position])
      jobs.downloadEnded(position)
      jobs.retry(position, attempts: 1, due: due)
    }
    #expect(try jobs.start(perHost: 1, now: 99) == [2])
    #expect(jobs.scheduler.nextChange == 100)
    #expect(try jobs.start(perHost: 1, now: 100) == [])
    #expect(jobs.scheduler.nextChange == 200, "room comes with a message")
    #expect(try jobs.start(perHost: 1, now: 200) == [])
    #expect(jobs.scheduler.nextChange == nil)
    jobs.downloadEnded(2)
    #expect(try jobs.start(perHost: 2, now: 200) == [0, 1], "both are there when there is room")
  }

  @Test func `the retry of a host's last entry is begun`() throws {
    try jobs.add(1, [("a", 2)])
    for attempt in 1...3 {
      #expect(try jobs.start(now: attempt * 10) == [0])
      jobs.downloadEnded(0)
      jobs.retry(0, attempts: attempt, due: attempt * 10 + 5)
      #expect(try jobs.start(now: attempt * 10) == [])
    }
    #expect(try jobs.next(perHost: 1, now: 100)?.history.attempts == 3)
  }

  @Test func `an entry put off for want of space has not been tried`() throws {
    try jobs.add(1, [("a", 2), ("", 2)])
    #expect(try jobs.start() == [0, 1])
    for position in 0...1 {
      jobs.downloadEnded(position)
      jobs.retry(position, attempts: nil, due: 0)
    }
    #expect(try jobs.next(perHost: 1)?.history.attempts == 0)
    #expect(try jobs.next(perHost: 1)?.history.attempts == 0)
  }

  @Test func `what was asked of servers adds up, and files are no servers`() throws {
    try jobs.add(1, [("a", 2), ("b", 2), ("", 2)])
    _ = try jobs.start()
    jobs.downloadEnded(0, .served, .request(bytes: 10))
    jobs.retry(0, attempts: 1, due: 0)
    _ = try jobs.start()
    jobs.downloadEnded(0, .served, .request(reused: 1, bytes: 5))
    jobs.downloadEnded(1, .served, .request(bytes: 1))
    jobs.downloadEnded(2, .served, .request(bytes: 99))
    let transfers = jobs.scheduler.transfers(run: 1)
    #expect(transfers.total == .init(requests: 3, retries: 1, bytes: 16, connections_reused: 1))
    #expect(
      transfers.hosts.map { [$0.host, "\($0.counts.requests)", "\($0.counts.bytes)"] } == [
        ["http://a", "2", "15"], ["http://b", "1", "1"],
      ])
  }

  @Test func `what a host refuses is counted, and does not count among the tries of what follows`() throws {
    try jobs.add(1, [("a", 2)])
    for attempt in 1...3 {
      #expect(try jobs.start(now: attempt * 100_000) == [0])
      #expect(jobs.uncounted(0) == attempt - 1)
      jobs.downloadEnded(0, .refused(1), now: attempt * 100_000)
      #expect(jobs.scheduler.throttle(ofHostOf: .init(run: 1, position: 0)).refusals == attempt)
      jobs.retry(0, attempts: attempt, isRefused: true, due: attempt * 100_000, now: attempt * 100_000)
    }
    let next = try #require(try jobs.next(perHost: 1, now: 400_000))
    #expect(next.history.attempts == 3 && jobs.uncounted(0) == 3)
    jobs.downloadEnded(0, now: 400_000)
    jobs.retry(0, attempts: 4, due: 400_000, now: 400_000)
    #expect(try jobs.start(now: 500_000) == [0])
    #expect(jobs.uncounted(0) == 3)
  }

  /// The download of an entry failed at its host.
  private func fail(_ position: Int, now: Int) {
    let usage = HostUsage(isOwn: true, contact: .failed(.refused))
    jobs.downloadEnded(position, .none, usage, now: now)
  }

  @Test func `tries at a closed host do not count, nor does their time`() throws {
    try jobs.add(1, [("a", 2), ("a", 2)])
    let id = PhotoRecord.ID(run: 1, position: 1)
    let answered = HostUsage(isOwn: true, contact: .answered(firstByte: nil, isMultiplexed: false))
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.downloadEnded(0, .served, answered, now: 5)
    jobs.scheduler.finished(.init(run: 1, position: 0), now: 5)
    var now = 10
    for _ in 1...3 {
      #expect(try jobs.start(now: now) == [1])
      jobs.scheduler.startTimer(id, now: now)
      #expect(jobs.scheduler.started(id)?.history.roundBegan == now)
      fail(1, now: now)
      #expect(jobs.scheduler.breaker(ofHostOf: id).isClosed)
      jobs.scheduler.hold(id, now: now)
      #expect(try jobs.start(now: now).isEmpty)
      now += 20_000
    }
    let next = try #require(try jobs.next(now: now))
    #expect(next.history.attempts == 0 && next.history.tries.holds == 3 && next.history.roundBegan == nil)
  }

  @Test(arguments: [false, true])
  func `the time of an entry that waits for its next try begins anew when its host was closed meanwhile`(isClosed: Bool)
    throws
  {
    try jobs.add(1, urls: (0...2).map { ["http://a/\($0)"] })
    let (waiting, other) = (PhotoRecord.ID(run: 1, position: 1), PhotoRecord.ID(run: 1, position: 2))
    let answered = HostUsage(isOwn: true, contact: .answered(firstByte: nil, isMultiplexed: false))
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.downloadEnded(0, .served, answered, now: 5)
    jobs.scheduler.finished(.init(run: 1, position: 0), now: 5)
    #expect(try jobs.start(perHost: 1, now: 10) == [1])
    jobs.scheduler.startTimer(waiting, now: 10)
    jobs.downloadEnded(1, .served, answered, now: 20)
    jobs.retry(1, attempts: 1, due: 2000, now: 20)
    #expect(try jobs.start(perHost: 1, now: 25) == [2])
    for now in isClosed ? [30, 1030] : [] {
      if now > 30 { #expect(try jobs.start(now: now) == [2], "the trial") }
      fail(2, now: now)
      jobs.scheduler.hold(other, now: now)
    }
    #expect(try jobs.start(now: 3300) == [1], "in a closed host's case the trial, with fewer tries than the other")
    jobs.scheduler.startTimer(waiting, now: 3300)
    #expect(jobs.scheduler.started(waiting)?.history.roundBegan == (isClosed ? 3300 : 10))
  }

  @Test func `an entry goes on to its next mirror, with all of its retries, at that mirror's host`() throws {
    let urls = ["http://a/1", "http://b/1", "c.jpg"]
    try jobs.add(1, urls: [urls, ["http://a/2"], ["http://b/2"], ["http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0, 2])
    jobs.downloadEnded(0, .served, .request())
    try jobs.useMirror(0, urls[1], attempts: 2)
    #expect(try jobs.start(perHost: 1) == [1], "the next of a; b has no room")
    jobs.downloadEnded(2)
    let next = try #require(try jobs.next(perHost: 1))
    #expect(next.entry.position == 0 && next.history.mirror == 1 && next.history.attempts == 2)
    #expect(jobs.uncounted(0) == 2, "none of them was b's")
    #expect(next.entry.urls == urls)
    jobs.downloadEnded(0, .none, .request())
    #expect(jobs.scheduler.transfers(run: 1).hosts.map(\.host) == ["http://a", "http://b"])
    try jobs.useMirror(0, urls[2], attempts: 3)
    #expect(try jobs.next(perHost: 1)?.history.mirror == 2)
    #expect(try jobs.start(perHost: 1) == [3])
  }

  @Test func `a host that a mirror has made busy is not begun beyond its room`() throws {
    try jobs.add(1, urls: [["http://a/1", "http://b/1"], ["http://b/2"]])
    #expect(try jobs.next(perHost: 1)?.entry.position == 0)
    jobs.downloadEnded(0)
    try jobs.useMirror(0, "http://b/1", attempts: 1)
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.downloadEnded(0, .refused(5), now: 10)
    jobs.scheduler.finished(.init(run: 1, position: 0), now: 10)
    #expect(try jobs.start(perHost: 1, now: 20) == [], "and its wish is heard")
    #expect(try jobs.start(perHost: 1, now: 5010) == [1])
  }

  @Test func `what is unknown, or has ended, changes nothing`() throws {
    try jobs.add(1, [("a", 2)])
    #expect(try jobs.start() == [0])
    jobs.finish(0)
    jobs.finish(0)
    jobs.retry(0, attempts: 1, due: 0)
    jobs.retry(7, attempts: 1, due: 0)
    jobs.finish(0, run: 9)
    try jobs.useMirror(0, "http://b/", attempts: 1)
    #expect(try jobs.start(now: 1000) == [])
    #expect(jobs.scheduler.nextChange == nil && jobs.scheduler.waitingRetries(run: 1) == 0)
  }
}
