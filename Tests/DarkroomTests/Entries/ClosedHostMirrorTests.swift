import Scheduling
import Testing

@testable import Darkroom
@testable import JobIndex
@testable import Model

/// Entries of closed hosts that have mirrors at others.
@Suite struct ClosedHostMirrorTests {
  private let jobs = ScheduledJobs()

  /// Passes entries on to their next mirrors, without a request.
  /// - Returns: Which.
  private func passOn(now: Int, run: Int = 1) throws -> [Int] {
    var passed: [EntryScheduler.Next] = []
    _ = try jobs.scheduler.passOn(now: now) { passed.append($0) }
    for next in passed {
      #expect(next.hostFailure != nil)
      jobs.downloadEnded(next.entry.position, run: run, .none, now: now)
      let urls = next.entry.urls
      let mirror = try #require(
        next.history.nextURL(of: urls.count) { jobs.scheduler.isOpen(hostOf: urls[$0], now: now) })
      let failure = ReportRow.MirrorFailure(url: urls[next.history.mirror], code: "connect", httpStatus: nil)
      try jobs.scheduler.useMirror(next.id, urls[mirror], now: now) {
        $0.use(mirror, attempts: 0, after: failure, isRetryable: false, isPassedOver: true)
      }
    }
    return passed.map(\.entry.position)
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
    jobs.answer(0, now: 10)
    #expect(try jobs.start(now: 11) == [2])
    jobs.fail(2, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 2), now: 20)
    #expect(try jobs.start(now: 400) == [])
    #expect(try passOn(now: 500) == [1])
    #expect(try url(now: 500) == "http://b/1")
  }

  @Test func `an entry that waits for its host goes to its mirror when that opens`() throws {
    try jobs.add(1, urls: [["http://b/0"], ["http://b/1"], ["http://a/2"], ["http://a/3", "http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0, 2])
    for position in [0, 2] { jobs.answer(position, now: 10) }
    #expect(try jobs.start(now: 11) == [1, 3])
    for position in [1, 3] {
      jobs.fail(position, now: 20)
      jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 20)
    }
    #expect(try jobs.start(now: 30) == [])
    // One of the two tries its host, and b answers.
    #expect(try jobs.start(now: 1020) == [1, 3])
    jobs.fail(3, now: 1030)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 3), now: 1030)
    #expect(try jobs.start(now: 1030) == [])
    jobs.answer(1, now: 1040)
    #expect(try jobs.start(now: 1040) == [3], "its own host is tried at once")
    jobs.fail(3, now: 1050)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 3), now: 1050)
    #expect(try passOn(now: 1060) == [3])
    #expect(try url(now: 1060) == "http://b/3")
  }

  @Test func `the mirror at an open host may be the last of several`() throws {
    let mirrors = ["http://a/2", "http://b/2", "http://c/2"]
    try jobs.add(1, urls: [["http://a/0"], ["http://b/1"], mirrors, ["http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0, 1])
    for position in 0...1 { jobs.answer(position, now: 10) }
    #expect(try jobs.start(now: 11) == [2, 3])
    for position in 2...3 { jobs.fail(position, now: 20) }
    for position in 2...3 { jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 20) }
    #expect(try passOn(now: 30) == [2])
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
    jobs.answer(0, now: 10)
    #expect(try jobs.start(now: 11) == [1])
    jobs.fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    if !wasDeferred {
      let found = try #require(try index.hostAndKey(of: 2))
      let host = try #require(jobs.scheduler.names.known("http://a"))
      jobs.scheduler.hosts.release(found.key, job: 1, host: host, now: 30)
    }
    #expect(try jobs.start(now: 30) == [])
    #expect(try passOn(now: 30) == [2])
    #expect(try url(now: 30) == "http://b/2")
  }

  @Test func `those without a mirror are tried in their order when their host opens`() throws {
    let urls = (0..<8).map { ["http://a/\($0)"] } + [["http://a/8", "http://b/8"]]
    try jobs.add(1, urls: urls)
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    #expect(try jobs.start(perHost: 1, now: 11) == [1])
    jobs.fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    #expect(try passOn(now: 30) == [8])
    #expect(try jobs.start(perHost: 1, now: 30) == [8])
    let trial = try #require(try jobs.start(perHost: 1, now: 1020).first)
    #expect((2...7).contains(trial), "one that was not tried there yet")
    jobs.answer(trial, now: 1030)
    var order: [Int] = []
    while let position = try jobs.start(perHost: 1, now: 1030).first {
      order.append(position)
      jobs.answer(position, now: 1030)
    }
    #expect(order == (1...7).filter { $0 != trial })
  }

  /// Answers once, then closes hosts a and b.
  private func closeBoth() throws {
    for (position, host) in [(0, "a"), (1, "b")] {
      #expect(try jobs.next(perHost: 1, now: 0)?.entry.urls[0].hasPrefix("http://\(host)/") == true)
      jobs.answer(position, now: 10)
    }
    for position in [2, 3] {
      #expect(try jobs.next(perHost: 1, now: 11)?.entry.position == position)
      jobs.fail(position, now: 20)
      jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: 20)
    }
  }

  @Test func `entries whose mirrors are closed, too, are read once, and then only when a host has changed`() throws {
    let urls = (0..<1000).map { ["http://a/\($0)", "http://b/\($0)"] }
    try jobs.add(1, urls: [["http://a/x"], ["http://b/x"], ["http://a/y"], ["http://b/y"]] + urls)
    try closeBoth()
    for _ in 0..<3 { #expect(try jobs.scheduler.passOn(now: 30) { _ in }) }
    #expect(try !jobs.scheduler.passOn(now: 30) { _ in } && jobs.scheduler.jobs[1]?.waitingCount == 1002)
    #expect(try passOn(now: 40).isEmpty && jobs.scheduler.hosts.nextMirrorCheck(now: 50) == nil)
    // b answers a trial.
    #expect(try jobs.start(perHost: 1, now: 1020).count == 2)
    jobs.answer(3, now: 1030)
    #expect(try passOn(now: 1030).count == 256 && passOn(now: 1030).count == 256, "so many each time")
  }

  @Test func `closed hosts are looked at again when entries arrive there, and not when nothing has changed`() throws {
    try jobs.add(1, urls: ["a/x", "b/x", "a/y", "b/y"].map { ["http://\($0)"] })
    try closeBoth()
    #expect(try passOn(now: 30).isEmpty)
    #expect(jobs.scheduler.hosts.nextMirrorCheck(now: 40) == nil)
    try jobs.add(2, urls: [["http://a/0"], ["http://a/1", "http://c/1"], ["http://a/2"]])
    #expect(try jobs.start(perHost: 1, now: 50) == [], "they wait for a closed host")
    #expect(try passOn(now: 50, run: 2) == [1])
    #expect(jobs.scheduler.jobs[2]?.waitingCount == 3)
    #expect(jobs.scheduler.hosts.nextMirrorCheck(now: 60) == nil)
  }

  @Test func `a mirror's host at which nobody has anything left is used once it may be tried again`() throws {
    try jobs.add(1, urls: ["a/x", "b/x", "a/y", "b/y"].map { ["http://\($0)"] })
    try closeBoth()
    try jobs.add(2, urls: [["http://a/0", "http://b/0"]])
    #expect(try jobs.start(perHost: 1, now: 30) == [])
    #expect(try passOn(now: 30, run: 2).isEmpty)
    jobs.scheduler.remove(run: 1)
    // Nothing happens but that time passes.
    #expect(try passOn(now: 100, run: 2).isEmpty)
    #expect(try passOn(now: 11_000, run: 2) == [0])
  }

  @Test func `more entries are set aside as soon as fewer of the job wait, though no host has changed`() throws {
    let limit = JobEntries.passLimit
    let urls = ["a/x", "b/x", "a/y", "b/y"] + (0..<limit + 5).map { "a/\($0)" }
    try jobs.add(1, urls: urls.map { ["http://\($0)"] })
    #expect(try jobs.start(perHost: 1) == [0, 1])
    for position in [0, 1] { jobs.answer(position, now: 10) }
    #expect(try jobs.start(perHost: 1, now: 11) == [2, 3])
    jobs.fail(2, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 2), now: 20)
    jobs.downloadEnded(3, now: 20)
    jobs.retry(3, attempts: 1, due: 500, now: 20)
    while try jobs.scheduler.passOn(now: 30, { _ in }) {}
    #expect(jobs.scheduler.jobs[1]?.waitingCount == limit)
    #expect(try jobs.start(perHost: 1, now: 500) == [3])
    #expect(jobs.scheduler.jobs[1]?.waitingCount == limit - 1)
    #expect(try passOn(now: 500).isEmpty && jobs.scheduler.jobs[1]?.waitingCount == limit)
  }

  @Test func `a host that has asked for a hold is not asked because its entries are passed on`() throws {
    try jobs.add(1, urls: [["http://a/0"], ["http://a/1"], ["http://a/2"], ["http://a/3", "http://b/3"]])
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    #expect(try jobs.start(perHost: 2, now: 11) == [1, 2])
    #expect(jobs.downloadEnded(1, .refused(60), now: 20) == 60)
    jobs.fail(2, now: 30)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 2), now: 30)
    #expect(try passOn(now: 5000) == [3])
    #expect(try url(now: 5000) == "http://b/3")
  }

  @Test func `an entry whose mirrors have failed waits for the host that it was passed over at`() throws {
    try jobs.add(1, urls: [["http://a/0"], ["http://a/1"], ["http://a/2", "http://b/2"]])
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    #expect(try jobs.start(perHost: 1, now: 11) == [1])
    jobs.fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    #expect(try passOn(now: 30) == [2])
    let id = PhotoRecord.ID(run: 1, position: 2)
    #expect(try url(now: 30) == "http://b/2")
    jobs.downloadEnded(2, .none, now: 40)
    let failure = ReportRow.MirrorFailure(url: "http://b/2", code: "http-status", httpStatus: 404)
    try jobs.scheduler.useMirror(id, "http://a/2", now: 40) {
      #expect($0.nextURL(of: 2) == 0)
      $0.use(0, attempts: 1, after: failure, isRetryable: false, isPassedOver: false)
    }
    #expect(try passOn(now: 50).isEmpty, "its mirrors are not tried again")
    #expect(try jobs.start(perHost: 1, now: 1020) == [2])
    let history = try #require(jobs.scheduler.started(id)).history
    #expect(history.mirror == 0 && history.mirrorFailures.map(\.url) == ["http://b/2"])
    #expect(history.nextURL(of: 2) == nil && history.tries.counted == 0)
  }

  @Test func `so many entries wait beside the index at most, and others follow when these have ended`() throws {
    let limit = JobEntries.passLimit
    let urls = (0..<limit + 10).map { ["http://a/\($0)"] } + [["http://a/z", "http://b/z"]]
    try jobs.add(1, urls: [["http://a/x"], ["http://a/y"]] + urls)
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    #expect(try jobs.start(perHost: 1, now: 11) == [1])
    jobs.fail(1, now: 20)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 1), now: 20)
    while try jobs.scheduler.passOn(now: 30, { _ in }) {}
    #expect(jobs.scheduler.jobs[1]?.waitingCount == limit)
    // The host opens, serves some of them, and is closed again.
    let trial = try #require(try jobs.start(perHost: 1, now: 1020).first)
    #expect(trial > 20, "one that was not tried there yet")
    jobs.answer(trial, now: 1030)
    for position in 1...20 {
      #expect(try jobs.start(perHost: 1, now: 1030) == [position])
      jobs.answer(position, now: 1030)
    }
    #expect(jobs.scheduler.jobs[1]?.waitingCount == limit - 21)
    #expect(try jobs.start(perHost: 1, now: 1031) == [21])
    jobs.fail(21, now: 1040)
    jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: 21), now: 1040)
    #expect(try passOn(now: 1050) == [limit + 12], "the one with a mirror, behind all others")
  }
}

/// Which of its URLs an entry tries next.
@Suite struct AttemptHistoryTests {
  private func history(_ steps: [(url: Int, isPassedOver: Bool)]) -> AttemptHistory {
    var history = AttemptHistory()
    for step in steps {
      let failure = ReportRow.MirrorFailure(url: "\(history.mirror)", code: "connect", httpStatus: nil)
      history.use(
        step.url, attempts: 0, after: failure, isRetryable: step.isPassedOver, isPassedOver: step.isPassedOver)
    }
    return history
  }

  @Test func `URLs that were passed over are tried again, each of them, once the others have failed`() {
    // 0 and 1 are of a closed host, 2 fails.
    var history = history([(1, true), (2, true)])
    #expect(history.nextURL(of: 3) == 0)
    history.use(0, attempts: 1, after: nil, isRetryable: false, isPassedOver: false)
    #expect(history.nextURL(of: 3) == 1)
    history.use(1, attempts: 2, after: nil, isRetryable: false, isPassedOver: false)
    #expect(history.nextURL(of: 3) == nil, "all have failed")
  }

  @Test func `a URL that was skipped because its host was closed, too, is tried in its turn`() {
    let history = history([(2, true)])
    #expect(history.nextURL(of: 4) == 3)
    #expect(history.nextURL(of: 4) { $0 < 2 } == 0)
    #expect(self.history([(2, true), (3, false), (0, false)]).nextURL(of: 4) == 1)
  }

  @Test func `at a URL that was passed over its own tries count, and the time of the entry begins anew`() {
    var history = AttemptHistory(attempts: 3)
    history.roundBegan = 5
    history.use(1, attempts: 3, after: nil, isRetryable: true, isPassedOver: true)
    #expect(history.tries.counted == 0 && history.roundBegan == 5 && history.hadRetryableMirrorFailure)
    history.use(0, attempts: 4, after: nil, isRetryable: false, isPassedOver: false)
    #expect(history.tries.counted == 3 && history.tries.wasAsked && history.roundBegan == nil)
    #expect(!history.hadRetryableMirrorFailure, "what the host of the URL in use did is not that of another")
  }

  @Test func `an inherited download's URLs before its own are not tried`() {
    #expect(AttemptHistory(inheritedFrom: 1).nextURL(of: 2) == nil)
    #expect(AttemptHistory(inheritedFrom: 1).nextURL(of: 3) == 2)
  }
}
