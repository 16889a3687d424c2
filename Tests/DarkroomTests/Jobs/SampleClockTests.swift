import Testing

@testable import Darkroom

@Suite struct SampleClockTests {
  @Test func `samples are no closer than the interval, however often the loop wakes`() {
    var clock = SampleClock(now: 0)
    let samples = (1...1000).filter { clock.wakes(now: $0, waitBegan: $0 - 1) != nil }
    #expect(samples.count == 1000 / SampleClock.interval)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $1 - $0 >= SampleClock.interval })
  }

  @Test func `a loop that wakes after a long time takes a sample at once`() {
    var clock = SampleClock(now: 0)
    #expect(clock.wakes(now: 5, waitBegan: 1) == nil)
    #expect(clock.wakes(now: 1005, waitBegan: 6) == .init(isBusy: false))
  }

  @Test(arguments: [(0, true), (24, true), (25, false), (100, false)])
  func `a loop is busy that has waited for less than a quarter of the time`(percent: Int, isBusy: Bool) {
    var clock = SampleClock(now: 1000)
    // What it had waited before does not count.
    _ = clock.wakes(now: 1100, waitBegan: 1000)
    var found: Bool?
    for round in 1...10 {
      let now = 1100 + round * 10
      found = clock.wakes(now: now, waitBegan: now - percent / 10)?.isBusy ?? found
    }
    var once = SampleClock(now: 0)
    #expect(once.wakes(now: 100, waitBegan: 100 - percent) == .init(isBusy: isBusy))
    #expect(found == (4 * (percent / 10) < 10))
  }
}
