import Testing

@testable import Darkroom

@Suite struct ThrottleTests {
  private static let backoff = Backoff(retries: 3)

  /// A server that serves one request in so many milliseconds and refuses the rest, each after `latency`.
  ///
  /// Works through the entries of it, and tells how many were given up, how many requests there were, and the time.
  private static func work(entries: Int, period: Int, latency: Int) -> (failed: Int, requests: Int, time: Int) {
    var turns = HostTurns()
    var fresh = 0
    var running: [(end: Int, entry: Int, begun: Int)] = []
    var result = (failed: 0, requests: 0, time: 0)
    var (now, open, ended) = (0, 0, 0)
    let key = { (entry: Int) in entry < entries ? HostTurns.Key(turn: 2, position: entry) : nil }
    while ended < entries {
      while let choice = turns.choose(now: now, perHost: 6, upcoming: fresh == 0 ? key(0) : nil) {
        var entry = fresh
        if case .retry(let retry) = choice {
          entry = retry.key.position
          turns.beginRetry(host: 1, now: now)
        } else {
          fresh += 1
          turns.begin(host: 1, next: key(fresh), now: now)
        }
        running.append((now + latency, entry, now))
        result.requests += 1
      }
      now = [running.map(\.end).min(), turns.nextChange].compactMap { $0 }.min() ?? now
      for done in running where done.end == now {
        let isServed = now >= open
        if isServed { open = now + period }
        _ = turns.leave(
          host: 1, spending: latency, begun: done.begun, isServed ? .served : .refused(nil), now: now, backoff: backoff)
        if !isServed, turns.throttle(of: 1).refusals <= backoff.retries {
          let retry = HostTurns.Retry(key: .init(turn: 2, position: done.entry), host: 1, attempts: 1)
          turns.retry(retry, due: turns.throttle(of: 1).until)
        } else {
          ended += 1
          result.failed += isServed ? 0 : 1
        }
      }
      running.removeAll { $0.end == now }
    }
    result.time = now
    return result
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

  @Test func `what was begun before the host asked to be left alone neither counts nor lengthens the wait`() throws {
    var throttle = Throttle()
    let hold = throttle.refused(asked: nil, begun: 0, now: 10, backoff: Self.backoff)
    let until = throttle.until
    #expect(until == 10 + Int(((try #require(hold)) * 1000).rounded(.up)))
    let second = throttle.refused(asked: nil, begun: 5, now: 12, backoff: Self.backoff)
    #expect(second == nil)
    #expect(throttle.refusals == 1 && throttle.until == until)
    let third = throttle.refused(asked: 30, begun: 5, now: 14, backoff: Self.backoff)
    #expect(third == nil)
    #expect(throttle.refusals == 1 && throttle.until == 30_014, "unless it says for how long")
  }

  @Test func `one probe comes first, then more, and in the end the host is like any other`() {
    var throttle = Throttle()
    _ = throttle.refused(asked: 1, begun: 0, now: 0, backoff: Self.backoff)
    #expect(throttle.room == 1)
    throttle.served()
    #expect(throttle.room == 2 && throttle.interval > 0)
    for _ in 0..<40 { throttle.served() }
    #expect(throttle.room == .max && throttle.interval == 0)
  }
}
