import Testing

@testable import Sandbox

/// Whether a killed process was killed for want of memory.
@Suite struct KernelKillsTests {
  @Test func `the count is that of the kernel's statistics`() {
    #expect(KernelKills.count(statistics: "pgfault 12\noom_kill 34\noom_kill_x 5\n") == 34)
    #expect(KernelKills.count(statistics: "pgfault 12\n") == nil)
    #expect(KernelKills.count(statistics: nil) == nil)
  }

  @Test func `two that are killed at the same time are both seen, and what was before them does not count`() {
    var kills = KernelKills(at: 100, count: 7)
    #expect(!kills.mayHaveHappened(since: 101, until: 110, count: 7))
    #expect(kills.mayHaveHappened(since: 105, until: 120, count: 9))
    #expect(kills.mayHaveHappened(since: 106, until: 121, count: 9), "it had begun before the count rose")
    #expect(!kills.mayHaveHappened(since: 125, until: 130, count: 9))
    #expect(kills.mayHaveHappened(since: 125, until: 140, count: 10))
  }

  @Test func `many readings do not make it forget the first`() {
    var kills = KernelKills(at: 100, count: 7)
    for time in 201...500 { #expect(kills.mayHaveHappened(since: 150, until: Double(time), count: 8)) }
    #expect(!kills.mayHaveHappened(since: 499, until: 501, count: 8))
  }

  @Test func `where the kernel does not count it is taken for granted`() {
    var kills = KernelKills(at: 100, count: nil)
    #expect(kills.mayHaveHappened(since: 101, until: 110, count: 7))
    var other = KernelKills(at: 100, count: 7)
    #expect(other.mayHaveHappened(since: 101, until: 110, count: nil))
  }
}
