import Scheduling
import Testing

@Suite struct ScanScheduleTests {
  /// A schedule after a scan from second 100 on, with an interval of a second.
  private func scanned(taking seconds: Double) -> ScanSchedule {
    var schedule = ScanSchedule()
    schedule.scanned(from: 100, to: 100 + seconds, interval: 1)
    return schedule
  }

  @Test func `the first scan is due at once`() {
    #expect(ScanSchedule().due == 0)
  }

  @Test func `without notices the folder is scanned every interval`() {
    #expect(scanned(taking: 0).due == 101)
  }

  @Test func `a notice has a small folder scanned at once`() {
    var schedule = scanned(taking: 0.0001)
    schedule.note(isUrgent: false)
    #expect(schedule.due < 100.002)
  }

  @Test func `scans take a tenth of the time at most, notices or not`() {
    var schedule = scanned(taking: 2)
    #expect(schedule.due == 120)
    schedule.note(isUrgent: false)
    #expect(schedule.due == 120)
  }

  @Test func `after a scan that took long the next comes in half a minute`() {
    #expect(scanned(taking: 120).due == 250)
  }

  @Test func `an urgent notice has any folder scanned at once, whatever comes after it`() {
    var schedule = scanned(taking: 2)
    for isUrgent in [false, true, false] { schedule.note(isUrgent: isUrgent) }
    #expect(schedule.due == 0)
  }

  @Test func `after a scan earlier notices count no more`() {
    var schedule = scanned(taking: 0)
    schedule.note(isUrgent: true)
    schedule.scanned(from: 200, to: 200, interval: 5)
    #expect(schedule.due == 205)
    schedule.scanNow()
    #expect(schedule.due == 0)
  }

  @Test(arguments: [(0.0, 100.5, 100.5), (0, 150, 101), (0, 99, 100), (2, 101, 120)])
  func `a scan can be brought forward, not beyond the share of slow ones`(taking: Double, time: Double, due: Double) {
    var schedule = scanned(taking: taking)
    schedule.scan(by: time)
    #expect(schedule.due == due)
  }
}
