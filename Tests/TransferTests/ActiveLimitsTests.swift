import Testing

@testable import Transfer

@Suite struct ActiveLimitsTests {
  @Test func `time that is held back does not count, but for the limit that includes it`() {
    var limits = ActiveLimits(began: 100, time: 10, wholeTime: 50, speed: 0, period: 15)
    #expect(limits.check(now: 109, held: 0, bytes: 0) == (nil, 110))
    #expect(limits.check(now: 110, held: 0.5, bytes: 0) == (nil, 110.5))
    #expect(limits.check(now: 140, held: 31, bytes: 0) == (nil, 141))
    #expect(limits.check(now: 141, held: 31, bytes: 0).excess == .time)
    #expect(limits.check(now: 149, held: 45, bytes: 0) == (nil, 150))
    #expect(limits.check(now: 150, held: 49, bytes: 0).excess == .time)
  }

  @Test func `the speed counts from the first byte on, in periods of the time that is not held back`() {
    var limits = ActiveLimits(began: 0, time: 1000, speed: 100, period: 10)
    #expect(limits.check(now: 30, held: 0, bytes: 0) == (nil, 40))
    limits.bodyBegins(now: 35, held: 0)
    #expect(limits.check(now: 40, held: 0, bytes: 1) == (nil, 45))
    #expect(limits.check(now: 45, held: 0, bytes: 1000) == (nil, 55))
    // Held back for the whole period.
    #expect(limits.check(now: 55, held: 10, bytes: 1000) == (nil, 65))
    #expect(limits.check(now: 65, held: 10, bytes: 1999).excess == .speed)
    #expect(limits.check(now: 65, held: 10, bytes: 2000).excess == nil)
  }

  @Test func `a rate knows for how long transfers of a host have paused, each moment once`() {
    let rates = RateLimiter<Int>(total: 1000, now: 0)
    for id in 0..<3 { rates.begin("a"); _ = rates.receive(id == 0 ? 70_000 : 1, by: id, of: "a", now: 0) }
    rates.begin("b")
    #expect(rates.pausedTime(of: "a", now: 3) == 3 && rates.pausedTime(of: "b", now: 3) == 0)
    rates.end(1, of: "a", now: 4)
    #expect(rates.pausedTime(of: "a", now: 5) == 5)
    #expect(rates.next(now: 100) == 2)
    #expect(rates.pausedTime(of: "a", now: 200) == 100)
    rates.end(2, of: "a", now: 200)
    rates.end(0, of: "a", now: 200)
    #expect(rates.pausedTime(of: "a", now: 300) == 0)
  }
}
