import Testing

@testable import Darkroom
@testable import Model

@Suite struct RunTimeTests {
  @Test func `a run takes as long as the monotonic clock says, pauses of the time before it not counted`() {
    let time = RunTime(now: 1000, paused: 300)
    #expect(time.elapsed(now: 1000, paused: 300) == .init(total: 0, paused: 0))
    #expect(time.elapsed(now: 5000, paused: 700) == .init(total: 4000, paused: 400))
  }

  @Test func `what earlier processes took is added`() {
    let time = RunTime(now: 10, paused: 0, earlier: .init(total: 60_000, paused: 5000))
    #expect(time.elapsed(now: 1010, paused: 500) == .init(total: 61_000, paused: 5500))
  }

  @Test(arguments: [
    (from: 1000, to: 5000, paused: 100, total: 4000, result: 100), (5000, 1000, 100, 0, 0),
    (1000, 5000, 9000, 4000, 4000), (1000, 5000, -7, 4000, 0),
  ])
  func `the wall clock is believed only where it makes sense`(
    from: Int, to: Int, paused: Int, total: Int, result: Int
  ) {
    #expect(RunTime.Elapsed(from: from, to: to, paused: paused) == .init(total: total, paused: result))
  }

  @Test func `a pause that lasts counts up to now`() {
    var active = ActiveTime()
    active.pause(true, now: 100)
    #expect(active.paused(150) == 50 && active.since == 100)
    active.pause(false, now: 160)
    #expect(active.paused(500) == 60 && active.since == nil)
  }

  @Test func `what an earlier version recorded takes no less than nothing`() {
    let outcome = JobOutcome(JobTally(), Transfers(), at: 1000)
    #expect(outcome.duration(since: 400) == 600)
    #expect(outcome.duration(since: 4000) == 0)
  }
}
