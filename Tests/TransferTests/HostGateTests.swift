import System
import Testing

@testable import Transfer

@Suite struct HostGateTests {
  @Test func `a host gets its connections, and streams once it has answered with HTTP 2`() {
    var gate = HostGate<Int>(limit: .auto)
    let started = (0..<100).filter { gate.acquire("h", $0) }
    #expect(started == Array(0..<6))
    #expect(gate.next("h") == nil)
    gate.count("h", isHTTP2: true, isReused: false, couldShare: false)
    #expect(gate.next("h") == nil, "one connection says nothing about streams")
    for _ in 0..<26 { gate.count("h", isHTTP2: true, isReused: true, couldShare: true) }
    var more: [Int] = []
    while let next = gate.next("h") { more.append(next) }
    #expect(more == Array(6..<32))
    gate.count("h", isHTTP2: false, isReused: true, couldShare: true)
    for _ in 0..<26 { gate.release("h") }
    #expect(gate.next("h") == nil, "back to six connections")
    gate.release("h")
    #expect(gate.next("h") == 32)
  }

  @Test func `slow elements leave a slot to others, and none where the limit is a number`() {
    var gate = HostGate<Int>(limit: .auto)
    #expect((0..<100).filter { gate.acquire("h", $0) } == Array(0..<6))
    for _ in 0..<5 { gate.slowBegan("h") }
    #expect(gate.next("h") == nil, "one is not slow")
    gate.slowBegan("h")
    #expect(gate.next("h") == 6 && gate.next("h") == nil)
    for number in 7..<12 {
      gate.slowBegan("h")
      #expect(gate.next("h") == number && gate.next("h") == nil)
    }
    gate.slowBegan("h")
    #expect(gate.next("h") == nil, "at most as many as there are slots")
    for _ in 0..<12 {
      gate.slowEnded("h")
      gate.release("h")
    }
    #expect((0..<100).prefix { _ in gate.next("h") != nil }.count == 6)

    var fixed = HostGate<Int>(limit: HostLimit(fixed: 2))
    #expect((0..<4).filter { fixed.acquire("h", $0) } == [0, 1])
    for _ in 0..<2 { fixed.slowBegan("h") }
    #expect(fixed.next("h") == nil)
  }

  @Test func `a server that allows fewer streams gets no more than it has room for`() {
    var limit = StreamLimit(.auto)
    limit.count(isHTTP2: true, isReused: false, couldShare: false)
    for _ in 0..<5 { limit.count(isHTTP2: true, isReused: true, couldShare: true) }
    #expect(limit.transfers == 11)
    limit.count(isHTTP2: true, isReused: false, couldShare: true)
    #expect(limit.transfers == 10)
    for _ in 0..<100 { limit.count(isHTTP2: true, isReused: true, couldShare: true) }
    #expect(limit.transfers == 10)
    for _ in 0..<128 { limit.count(isHTTP2: true, isReused: true, couldShare: true) }
    #expect(limit.transfers <= 12)
    for _ in 0..<100 { limit.count(isHTTP2: true, isReused: false, couldShare: true) }
    #expect(limit.transfers == 6)
  }

  @Test(arguments: [1, 3, 40])
  func `a number that was given holds for both protocols`(number: Int) {
    var limit = StreamLimit(HostLimit(fixed: number))
    for (isHTTP2, isReused) in [(true, false), (true, true), (true, false), (false, true), (true, true)] {
      limit.count(isHTTP2: isHTTP2, isReused: isReused, couldShare: true)
      #expect(limit.transfers == number)
    }
  }

  @Test func `sessions are kept for the origins that were used last`() {
    let recent = RecentSessions<Int>(origins: 2, sessionsOfOrigin: 2)
    for session in 1...3 { recent.insert(session, for: "a") }
    #expect(recent.next(for: "a") == 3)
    #expect(recent.next(for: "a") == 2)
    #expect(recent.next(for: "a") == 2, "the last one is used again")
    recent.insert(4, for: "b")
    #expect(recent.next(for: "a") == 2)
    recent.insert(5, for: "c")
    #expect(recent.next(for: "b") == nil)
    #expect(recent.next(for: "a") == 2)
    #expect(recent.next(for: "c") == 5)
  }
}
