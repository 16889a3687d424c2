import Testing

@testable import Darkroom

@Suite struct ThrottleMemoryTests {
  private let memory = ThrottleMemory()

  private func refused(for seconds: Double, at now: Int) -> Throttle {
    var throttle = Throttle()
    _ = throttle.refused(asked: seconds, begun: now, now: now, backoff: Backoff(retries: 3))
    return throttle
  }

  @Test func `a host that asked to be left alone is remembered until it has long been free`() {
    let throttle = refused(for: 5, at: 1000)
    memory.note(throttle, of: "a", now: 1000)
    #expect(memory.throttle(of: "a", now: 2000) == throttle.ofEarlierJob)
    #expect(memory.throttle(of: "a", now: 2000)?.refusals == 0, "another job's entries have all their tries")
    #expect(memory.throttle(of: "b", now: 2000) == nil)
    #expect(memory.throttle(of: "a", now: 6000 + ThrottleMemory.lifetime - 1) == throttle.ofEarlierJob)
    #expect(memory.throttle(of: "a", now: 6000 + ThrottleMemory.lifetime) == nil)
  }

  @Test func `a host that has become like any other is forgotten, and others are never taken down`() {
    memory.note(Throttle(), of: "a", now: 0)
    #expect(memory.isEmpty)
    var throttle = refused(for: 1, at: 0)
    memory.note(throttle, of: "a", now: 0)
    for _ in 0..<100 { throttle.served() }
    memory.note(throttle, of: "a", now: 2000)
    #expect(memory.isEmpty)
  }

  @Test func `of too many hosts those are forgotten that are free first`() {
    for number in 0...ThrottleMemory.limit {
      memory.note(refused(for: Double(number == 0 ? 500 : 1), at: number), of: "h\(number)", now: number)
    }
    let now = ThrottleMemory.limit
    #expect(memory.throttle(of: "h0", now: now) != nil)
    #expect(memory.throttle(of: "h1", now: now) == nil)
    #expect((2...now).allSatisfy { memory.throttle(of: "h\($0)", now: now) != nil })
  }
}
