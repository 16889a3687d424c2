import System
import Testing

@testable import Scheduling

@Suite struct SlowDownloadsTests {
  private let limit = DownloadPace.Limit(bytesPerSecond: 10_000, period: 60_000)

  /// Whether a download is slow after so many seconds of bytes at a rate.
  private func isSlow(after seconds: Int, rate: (Int) -> Int) -> Bool {
    var pace = DownloadPace(began: 0)
    var bytes = 0
    for second in 1...seconds {
      bytes += rate(second)
      pace.received(bytes, now: second * 1000, limit: limit)
    }
    return pace.isSlow
  }

  @Test(arguments: [(59, 2000, false), (60, 2000, true), (60, 0, true), (600, 10_000, false), (60, 9999, true)])
  func `a download is slow after a minute below the limit`(seconds: Int, rate: Int, expected: Bool) {
    #expect(isSlow(after: seconds) { _ in rate } == expected)
  }

  @Test func `what is quick at times is not slow, and what has become slow remains so`() {
    #expect(!isSlow(after: 600) { $0.isMultiple(of: 40) ? 600_000 : 0 })
    #expect(isSlow(after: 600) { $0.isMultiple(of: 100) ? 600_000 : 0 })
    #expect(isSlow(after: 600) { $0 < 120 ? 1_000_000 : 2000 })
    #expect(isSlow(after: 600) { $0 < 70 ? 2000 : 1_000_000 })
  }

  @Test func `without a limit nothing is slow`() {
    var pace = DownloadPace(began: 0)
    pace.received(0, now: 1_000_000, limit: .init(bytesPerSecond: 0, period: 60_000))
    #expect(!pace.isSlow)
  }

  private func slow(_ count: Int) -> SlowDownloads {
    var slow = SlowDownloads(limit: limit)
    for _ in 0..<count { slow.began() }
    return slow
  }

  @Test(arguments: [(0, 0), (1, 1), (15, 15), (16, 16), (17, 16), (40, 16)])
  func `while others are quick slow downloads leave their places, at most as many as there are`(
    count: Int, beside: Int
  ) {
    var slow = slow(count)
    slow.succeeded(bytes: 500_000, milliseconds: 10_000, now: 100_000)
    #expect(slow.beside(slots: 16, now: 100_000) == beside)
    #expect(slow.beside(slots: 16, now: 159_999) == beside)
  }

  @Test(arguments: [(0, 0), (1, 0), (15, 0), (16, 1), (17, 2), (31, 16), (40, 16)])
  func `when nothing is quick one place is left to show whether anything can be`(count: Int, beside: Int) {
    var slow = slow(count)
    #expect(slow.beside(slots: 16, now: 0) == beside)
    slow.succeeded(bytes: 5000, milliseconds: 2000, now: 100_000)
    #expect(slow.beside(slots: 16, now: 100_000) == beside, "that was slow, too")
    slow.succeeded(bytes: 100, milliseconds: 1999, now: 40_000)
    #expect(slow.beside(slots: 16, now: 100_000) == beside, "that was long ago")
  }

  @Test func `slow downloads that end take their number with them`() {
    var slow = slow(2)
    slow.ended()
    #expect(slow.count == 1)
  }

  // MARK: Hosts

  /// How many downloads of one host run at once when so many of them are slow.
  private func running(_ places: HostLimit, slow: Int) -> Int {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.admit(job: 1, host: 1, next: EntryKey(priority: 2, position: 0), now: 0)
    var (count, slowOnes) = (0, 0)
    while scheduler.choose(now: 0, perHost: places) == .init(job: 1, kind: .host(1)), count < 100 {
      scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: count + 1), now: 0)
      count += 1
      if count == 1 { scheduler.answerBegan(1) }
      if slowOnes < slow {
        scheduler.downloadIsSlow(host: 1)
        slowOnes += 1
      }
    }
    return count
  }

  @Test(arguments: [(0, 6), (5, 6), (6, 7), (8, 9), (11, 12), (40, 12)])
  func `the slow downloads of a host leave one place to others`(slow: Int, expected: Int) {
    #expect(running(HostLimit(connections: 6, streams: 32), slow: slow) == expected)
    #expect(running(2, slow: slow) == 2, "a number holds")
  }

  @Test func `a slow download that has ended leaves nothing behind`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    let places = HostLimit(connections: 6, streams: 32)
    scheduler.admit(job: 1, host: 1, next: EntryKey(priority: 2, position: 0), now: 0)
    var position = 0
    func startAll() -> Int {
      let before = position
      while scheduler.choose(now: 0, perHost: places) == .init(job: 1, kind: .host(1)) {
        position += 1
        scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: position), now: 0)
        scheduler.answerBegan(1)
      }
      return position - before
    }
    #expect(startAll() == 6)
    for _ in 0..<6 { scheduler.downloadIsSlow(host: 1) }
    #expect(startAll() == 1)
    for _ in 0..<6 {
      _ = scheduler.downloadEnded(
        host: 1, spent: 0, began: 0, isSlow: true, .served, now: 0, backoff: Backoff(retries: 3))
    }
    #expect(startAll() == 5, "six run, as before")
  }
}
