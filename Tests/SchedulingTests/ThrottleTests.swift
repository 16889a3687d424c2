import Testing

@testable import Scheduling

@Suite struct ThrottleTests {
  private static let backoff = Backoff(retries: 3)

  /// Works through the entries of a server that serves one request in so many milliseconds and refuses the rest, each after
  /// `latency`, and counts those that were given up, the requests, and the time.
  private static func work(
    entries: Int, period: Int, latency: Int, jobs: Int = 1
  ) -> (failed: Int, requests: Int, time: Int) {
    var open = 0
    var simulation = Simulation(places: 40)
    simulation.answer = { _, now in
      guard now >= open else { return .refused(nil) }
      open = now + period
      return .served
    }
    for job in 1...jobs {
      simulation.add(job: job, [.init(host: 1, entries: entries / jobs, milliseconds: latency)])
    }
    simulation.run()
    return (simulation.ended.failed, simulation.started.count, simulation.now)
  }

  @Test(arguments: [(20, 2), (100, 2), (100, 80), (1000, 5), (1000, 300)])
  func `of a server that allows so much nothing is lost, at more than half of that, with few refusals`(
    period: Int, latency: Int
  ) {
    let result = Self.work(entries: 500, period: period, latency: latency)
    #expect(result.failed == 0)
    #expect(result.time < 2 * 500 * period + 20_000, "\(result)")
    #expect(result.requests < 500 * 5 / 4, "\(result)")
  }

  @Test func `nor is anything lost when several jobs ask it`() {
    let result = Self.work(entries: 500, period: 100, latency: 80, jobs: 5)
    #expect(result.failed == 0)
    #expect(result.time < 2 * 500 * 100 + 20_000, "\(result)")
    #expect(result.requests < 500 * 5 / 4, "\(result)")
  }

  @Test func `a server that allows ten a minute is found out within a few entries`() {
    let result = Self.work(entries: 100, period: 6000, latency: 50)
    #expect(result.failed <= 2, "\(result)")
    #expect(result.time < 2 * 100 * 6000, "\(result)")
  }

  @Test func `of a server that refuses everything each entry is asked for once, once the retries are used up`() {
    let result = Self.work(entries: 20, period: .max / 2, latency: 50)
    #expect(result.failed == 19, "the first request was served")
    #expect(result.requests < 20 + 6 + 3, "\(result)")
  }

  @Test func `what was started before the hold began neither counts nor lengthens the wait`() throws {
    var throttle = Throttle()
    let hold = throttle.refused(asked: nil, began: 0, now: 10, backoff: Self.backoff)
    let until = throttle.until
    #expect(until == 10 + Int(((try #require(hold)) * 1000).rounded(.up)))
    let second = throttle.refused(asked: nil, began: 5, now: 12, backoff: Self.backoff)
    #expect(second == nil)
    #expect(throttle.refusals == 1 && throttle.until == until)
    let third = throttle.refused(asked: 30, began: 5, now: 14, backoff: Self.backoff)
    #expect(third == nil)
    #expect(throttle.refusals == 1 && throttle.until == 30_014, "unless it says for how long")
  }

  @Test func `a hold is over with the first answer to what was started after it, and once`() {
    var throttle = Throttle()
    _ = throttle.refused(asked: 1, began: 0, now: 10, backoff: Self.backoff)
    // Enough of them make the host like any other.
    let during = (0..<60).map { _ in throttle.served(began: 5) }
    #expect(!during.contains(true) && throttle.isFree)
    let after = (0..<2).map { _ in throttle.served(began: throttle.until) }
    #expect(after == [true, false])
  }

  @Test func `one probe comes first, then more, and in the end the host is like any other`() {
    var throttle = Throttle()
    _ = throttle.refused(asked: 1, began: 0, now: 0, backoff: Self.backoff)
    #expect(throttle.room == 1)
    throttle.served(began: 0)
    #expect(throttle.room == 2 && throttle.interval > 0)
    for _ in 0..<40 { throttle.served(began: 0) }
    #expect(throttle.room == .max && throttle.interval == 0)
  }
}
