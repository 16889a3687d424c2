import Scheduling
import Testing

@testable import Darkroom

/// Entries of closed hosts that have mirrors at others.
@Suite struct ClosedHostMirrorTests {
  private let jobs = ScheduledJobs()

  private func answer(_ position: Int, now: Int) {
    let usage = HostUsage(isOwn: true, contact: .answered(firstByte: nil, isMultiplexed: false))
    jobs.downloadEnded(position, .served, usage, now: now)
    jobs.scheduler.finished(PhotoRecord.ID(run: 1, position: position), now: now)
  }

  private func fail(_ position: Int, now: Int) {
    let failure = EntryFailure(
      code: .download(.connect), message: "refused", disposition: .retry(after: nil), hostFailure: .refused)
    _ = jobs.scheduler.downloadEnded(
      PhotoRecord.ID(run: 1, position: position), HostUsage(isOwn: true, contact: .failed(.refused)), .none,
      failure: failure, now: now, backoff: Backoff(retries: 3))
  }

  /// Starts the entry that comes next, which is to go on to its next mirror without being asked for.
  private func isPassedOn(_ position: Int, now: Int) throws -> Bool {
    let next = try jobs.next(now: now)
    guard let next, next.entry.position == position, next.hostFailure != nil else { return false }
    jobs.downloadEnded(position, .none, now: now)
    try jobs.useMirror(position, next.entry.urls[next.history.mirror + 1], attempts: 0, now: now)
    return true
  }

  /// The URL that is asked of the entry that comes next.
  private func url(now: Int) throws -> String? {
    try jobs.next(now: now).flatMap { $0.hostFailure == nil ? $0.entry.urls[$0.history.mirror] : nil }
  }

  @Test func `an entry that waits to be tried again goes to its mirror once its time has come`() throws {
    try jobs.add(1, urls: [["http://a/0"], ["http://a/1", "http://b/1"], ["http://a/2"]])
    #expect(try jobs.start() == [0, 1])
    jobs.downloadEnded(1, now: 5)
    jobs.retry(1, attempts: 1, due: 500, now: 5)
    answer(0, now: 10)
    #expect(try jobs.start(now: 11) == [2])
    fail(2, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 2), now: 20)
    #expect(try jobs.start(now: 400) == [])
    #expect(try isPassedOn(1, now: 500))
    #expect(try url(now: 500) == "http://b/1")
  }

  @Test func `an entry that waits for its host goes to its mirror when that opens`() throws {
    try jobs.add(1, urls: [["http://b/0"], ["http://b/1"], ["http://a/2"], ["http://a/3", "http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0, 2])
    for position in [0, 2] { answer(position, now: 10) }
    #expect(try jobs.start(now: 11) == [1, 3])
    for position in [1, 3] {
      fail(position, now: 20)
      jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 20)
    }
    #expect(try jobs.start(now: 30) == [])
    // One of the two tries its host, and b answers.
    #expect(try jobs.start(now: 1020) == [1, 3])
    fail(3, now: 1030)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 3), now: 1030)
    #expect(try jobs.start(now: 1030) == [])
    answer(1, now: 1040)
    #expect(try jobs.start(now: 1040) == [3], "its own host is tried at once")
    fail(3, now: 1050)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 3), now: 1050)
    #expect(try isPassedOn(3, now: 1060))
    #expect(try url(now: 1060) == "http://b/3")
  }

  @Test func `the mirror at an open host may be the last of several`() throws {
    let mirrors = ["http://a/2", "http://b/2", "http://c/2"]
    try jobs.add(1, urls: [["http://a/0"], ["http://b/1"], mirrors, ["http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0, 1])
    for position in 0...1 { answer(position, now: 10) }
    #expect(try jobs.start(now: 11) == [2, 3])
    for position in 2...3 { fail(position, now: 20) }
    for position in 2...3 { jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 20) }
    for _ in 0..<2 { #expect(try isPassedOn(2, now: 30)) }
    #expect(try url(now: 30) == "http://c/2")
    #expect(try jobs.start(now: 30) == [])
  }

  @Test(arguments: [true, false])
  func `one that had waited for others, or was deferred, goes to its mirror`(wasDeferred: Bool) throws {
    let index = try JobIndex(creating: .memory)
    try index.fill {
      for (position, urls) in [["http://a/0"], ["http://a/1"], ["http://a/2", "http://b/2"]].enumerated() {
        try index.insert(try Entry.sample(position, urls: urls))
      }
      try index.markEnded(2)
    }
    try index.prepareHosts()
    let deferred = DeferredEntry(position: 2, attempts: 5, due: 30, firstTried: -300)
    jobs.scheduler.add(run: 1, index, deferred: wasDeferred ? [deferred] : [])
    #expect(try jobs.start(perHost: 1) == [0])
    answer(0, now: 10)
    #expect(try jobs.start(now: 11) == [1])
    fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    if !wasDeferred {
      let place = try #require(try index.place(of: 2))
      let host = try #require(jobs.scheduler.names.known("a"))
      jobs.scheduler.hosts.release(place.key, job: 1, host: host, now: 30)
    }
    #expect(try isPassedOn(2, now: 30))
    #expect(try url(now: 30) == "http://b/2")
  }

  @Test func `those without a mirror are tried in their order when their host opens`() throws {
    let urls = (0..<8).map { ["http://a/\($0)"] } + [["http://a/8", "http://b/8"]]
    try jobs.add(1, urls: urls)
    #expect(try jobs.start(perHost: 1) == [0])
    answer(0, now: 10)
    #expect(try jobs.start(perHost: 1, now: 11) == [1])
    fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    #expect(try isPassedOn(8, now: 30))
    #expect(try jobs.start(perHost: 1, now: 30) == [8])
    #expect(try jobs.start(perHost: 1, now: 1020) == [2], "one that was not tried there yet")
    answer(2, now: 1030)
    var order: [Int] = []
    while let position = try jobs.start(perHost: 1, now: 1030).first {
      order.append(position)
      answer(position, now: 1030)
    }
    #expect(order == [1, 3, 4, 5, 6, 7])
  }
}
