import Testing

@testable import Darkroom

@Suite struct LookScheduleTests {
  /// A schedule after a look from second 100 on, with an interval of a second.
  private func looked(taking seconds: Double) -> LookSchedule {
    var schedule = LookSchedule()
    schedule.looked(from: 100, to: 100 + seconds, interval: 1)
    return schedule
  }

  @Test func `the first look is due at once`() {
    #expect(LookSchedule().due == 0)
  }

  @Test func `without notices the inbox is looked at every interval`() {
    #expect(looked(taking: 0).due == 101)
  }

  @Test func `a notice has a small inbox looked at at once`() {
    var schedule = looked(taking: 0.0001)
    schedule.note([.complete("a.txt")])
    #expect(schedule.due < 100.002)
  }

  @Test func `looks take a tenth of the time at most, notices or not`() {
    var schedule = looked(taking: 2)
    #expect(schedule.due == 120)
    schedule.note([.complete("a.txt")])
    #expect(schedule.due == 120)
  }

  @Test(arguments: [FolderNotice.complete("pause.lock"), .begun(".x.LOCK"), .begun("lock")])
  func `what happens to a lock is looked at at once`(notice: FolderNotice) {
    var schedule = looked(taking: 2)
    schedule.note([.begun("a.txt"), notice])
    #expect(schedule.due == 0)
  }

  @Test func `after a look earlier notices count no more`() {
    var schedule = looked(taking: 0)
    schedule.note([.begun("lock")])
    schedule.looked(from: 200, to: 200, interval: 5)
    #expect(schedule.due == 205)
    schedule.hurry()
    #expect(schedule.due == 0)
  }
}
