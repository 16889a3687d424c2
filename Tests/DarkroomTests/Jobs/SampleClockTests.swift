import Testing

@testable import Darkroom

@Suite struct SampleClockTests {
  private let interval = LiveJobs.SampleClock.interval

  @Test func `samples are no closer than the interval, however often the loop wakes`() {
    var clock = LiveJobs.SampleClock(now: 0)
    let samples = (1...1000).filter { clock.wakes(now: $0, waitBegan: $0 - 1) != nil }
    #expect(samples.count == 1000 / interval)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $1 - $0 >= interval })
  }

  @Test(arguments: [(0, true), (20, true), (30, false), (100, false)])
  func `a loop is busy that has waited for less than a quarter of the time since the last sample`(
    percent: Int, isBusy: Bool
  ) {
    var clock = LiveJobs.SampleClock(now: 0)
    #expect(clock.wakes(now: 1000, waitBegan: 0) == false)
    for now in stride(from: 1001, to: 1000 + interval, by: 1) { #expect(clock.wakes(now: now, waitBegan: now) == nil) }
    #expect(clock.wakes(now: 1100, waitBegan: 1100 - percent) == isBusy)
  }
}
