import Testing

@testable import Darkroom
@testable import Model

/// Rules for hosts, as `EntryScheduler` obeys them.
@Suite struct HostRuleSchedulingTests {
  private let jobs = ScheduledJobs()

  private func rules(_ pattern: String, perHost: Int? = nil, interval: Double? = nil) throws -> HostRules {
    var rule = HostRule(try HostPattern(parsing: pattern))
    (rule.perHost, rule.interval) = (perHost, interval)
    var rules = HostRules()
    _ = rules.add(rule)
    return rules
  }

  private func began(_ position: Int, run: Int = 1, at time: Int?) {
    jobs.scheduler.downloadBegan(PhotoRecord.ID(run: run, position: position), at: time)
  }

  @Test func `each host of a pattern has the number of downloads of its rule, other hosts theirs`() throws {
    jobs.scheduler.configure(try rules("*.a", perHost: 1))
    try jobs.add(1, ["x.a", "x.a", "y.a", "y.a", "b", "b", "b"].map { ($0, 2) })
    #expect(try jobs.start(perHost: 2) == [0, 2, 4, 5])
    jobs.scheduler.configure(try rules("x.a", perHost: 3))
    #expect(try jobs.start(perHost: 2) == [1, 3])
    #expect(jobs.scheduler.ruledHosts(limit: 9).hosts.map { [$0.name] + $0.patterns } == [["http://x.a", "x.a"]])
  }

  @Test func `an interval holds across jobs, retries and mirrors, from the beginning of a request`() throws {
    jobs.scheduler.configure(try rules("a", interval: 1))
    try jobs.add(1, urls: [["http://a/1"], ["http://b/1", "http://a/2"]])
    let first = try #require(try jobs.next())
    #expect(first.run == 1 && first.hasInterval)
    #expect(try jobs.startAll(now: 5000) == [.init(run: 1, position: 1)], "b has no rule")
    try jobs.add(2, urls: [["http://a/3"], ["http://a/4"]])
    began(0, at: 6000)
    jobs.finish(0, now: 6001)
    jobs.downloadEnded(1, now: 6001)
    try jobs.useMirror(1, "http://a/2", attempts: 1, now: 6001)
    #expect(try jobs.startAll(now: 6999) == [])
    #expect(jobs.scheduler.nextChange == 7000)
    let second = try #require(try jobs.next(now: 7000))
    #expect(second.run == 2)
    began(0, run: 2, at: 7000)
    jobs.downloadEnded(0, run: 2, .none, .request(), now: 7010)
    jobs.retry(0, run: 2, attempts: 1, due: 7020, now: 7010)
    let third = try #require(try jobs.next(now: 8000))
    #expect(third.run == 1 && third.history.mirror == 1)
    began(1, at: 8000)
    #expect(try jobs.startAll(now: 8999) == [])
    #expect(try jobs.startAll(now: 9000) == [.init(run: 2, position: 0)])
  }

  @Test func `an entry that waits for another's source keeps no other from asking, and counts once it asks`() throws {
    jobs.scheduler.configure(try rules("a", interval: 1))
    try jobs.add(1, ["a", "a", "a"].map { ($0, 2) })
    #expect(try jobs.start() == [0])
    began(0, at: nil)
    #expect(try jobs.start() == [1])
    began(1, at: 100)
    jobs.finish(1, now: 200)
    began(0, at: 1050)
    #expect(try jobs.start(now: 2049) == [])
    #expect(try jobs.start(now: 2050) == [2])
  }
}
