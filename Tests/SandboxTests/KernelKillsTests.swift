import Testing

@testable import Sandbox

/// Whether a killed process was killed for want of memory.
@Suite struct KernelKillsTests {
  @Test func `the count is that of the kernel's statistics`() {
    #expect(KernelKills.count(statistics: "pgfault 12\noom_kill 34\noom_kill_x 5\n") == 34)
    #expect(KernelKills.count(statistics: "pgfault 12\n") == nil)
    #expect(KernelKills.count(statistics: nil) == nil)
  }

  /// Whether one may have happened, by readings one after the other.
  private func answers(
    first: Int?, _ readings: [(began: Double, now: Double, count: Int?)]
  ) -> [Bool] {
    var kills = KernelKills(at: 100, count: first)
    return readings.map { kills.mayHaveHappened(since: $0.began, until: $0.now, count: $0.count) }
  }

  @Test func `two that are killed at the same time are both seen, and what was before them does not count`() {
    let readings: [(Double, Double, Int?)] = [
      (101, 110, 7), (105, 120, 9), (106, 121, 9), (125, 130, 9), (125, 140, 10),
    ]
    #expect(answers(first: 7, readings) == [false, true, true, false, true])
  }

  @Test func `many readings do not make it forget the first`() {
    let readings = (201...500).map { (150.0, Double($0), Optional(8)) } + [(499, 501, 8)]
    #expect(answers(first: 7, readings) == Array(repeating: true, count: 300) + [false])
  }

  @Test func `where the kernel does not count it is taken for granted`() {
    #expect(answers(first: nil, [(101, 110, 7)]) == [true])
    #expect(answers(first: 7, [(101, 110, nil)]) == [true])
  }
}
