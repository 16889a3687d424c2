import Testing

@testable import Scheduling

@Suite struct HostMemoryTests {
  private var memory = HostMemory()

  private func refused(for seconds: Double, at now: Int) -> Throttle {
    var throttle = Throttle()
    _ = throttle.refused(asked: seconds, began: now, now: now, backoff: Backoff(retries: 3))
    return throttle
  }

  @Test(arguments: [(2000, true), (6000 + HostMemory.lifetime - 1, true), (6000 + HostMemory.lifetime, false)])
  mutating func `a host that was held is remembered until it has long been free`(now: Int, isRemembered: Bool) {
    let throttle = refused(for: 5, at: 1000)
    memory.keep(throttle, HostBreaker(), of: 1, now: 1000)
    let (isKnown, isOtherKnown) = (memory.contains(1), memory.contains(2))
    #expect(isKnown && !isOtherKnown)
    let (other, taken, again) = (
      memory.take(2, now: now), memory.take(1, now: now), memory.take(1, now: now)
    )
    #expect(other == nil)
    #expect(taken?.throttle == (isRemembered ? throttle.ofEarlierJob : Throttle()))
    #expect(taken?.throttle.refusals == 0, "another job's entries have all their tries")
    #expect(again == nil)
  }

  @Test mutating func `a host without limits is forgotten, and never remembered`() {
    memory.keep(Throttle(), HostBreaker(), of: 1, now: 0)
    let atFirst = memory.count
    var throttle = refused(for: 1, at: 0)
    memory.keep(throttle, HostBreaker(), of: 1, now: 0)
    let held = memory.count
    for _ in 0..<100 { throttle.served(began: 0) }
    memory.keep(throttle, HostBreaker(), of: 1, now: 2000)
    let atLast = memory.count
    #expect((atFirst, held, atLast) == (0, 1, 0))
  }

  @Test mutating func `a host that has answered is remembered, and one that was given up waits anew after a minute`() {
    var breaker = HostBreaker()
    breaker.answered(began: 0, now: 0)
    breaker.giveUp(now: 100)
    memory.keep(Throttle(), breaker, of: 1, now: 100)
    memory.keep(Throttle(), breaker, of: 2, now: 100)
    let (soon, late) = (memory.take(1, now: 60_099), memory.take(2, now: 60_100))
    #expect(soon?.breaker.isGivenUp == true)
    #expect(late?.breaker.isClosed == true && late?.breaker.hasAnswered == true)
  }

  @Test mutating func `of too many hosts those are forgotten that are free first`() {
    for number in 0...HostMemory.limit {
      memory.keep(refused(for: Double(number == 0 ? 500 : 1), at: number), HostBreaker(), of: number, now: number)
    }
    let remembered = (0...HostMemory.limit).filter { memory.contains($0) }
    #expect(remembered == [0] + Array(2...HostMemory.limit))
  }

  @Test mutating func `of hosts that were taken and kept again the last time counts`() {
    let limit = HostMemory.limit
    for number in 1...limit { memory.keep(refused(for: 1, at: number), HostBreaker(), of: number, now: number) }
    // Often enough that what was noted earlier is thrown away.
    for round in 1...5 {
      for number in 1...limit / 2 {
        _ = memory.take(number, now: limit)
        memory.keep(refused(for: 1, at: limit * 10 * round), HostBreaker(), of: number, now: limit * 10 * round)
        memory.keep(refused(for: 1, at: limit * 10 * round), HostBreaker(), of: number, now: limit * 10 * round)
      }
    }
    for number in 1...limit / 2 { memory.keep(refused(for: 100, at: 0), HostBreaker(), of: limit + number, now: 0) }
    let remembered = (1...2 * limit).filter { memory.contains($0) }
    #expect(remembered == Array(1...limit / 2) + Array(limit + 1...limit + limit / 2))
  }
}
