import Testing

@testable import Scheduling

@Suite struct DeferralTests {
  private static let day = Deferral(seconds: 86_400)

  @Test(arguments: [
    (86_400.0, 0.0, 60.0), (86_400, 59, 60), (86_400, 60, 60), (86_400, 500, 500), (86_400, 3600, 3600),
    (86_400, 50_000, 3600), (600, 0, 60), (300, 0, 30), (300, 40, 40), (10, 0, 1), (10, 4, 4),
  ])
  func `the interval is the age, at least a minute or a tenth of the time, and at most an hour`(
    seconds: Double, age: Double, interval: Double
  ) {
    #expect(Deferral(seconds: seconds).interval(age: age) == interval)
  }

  @Test(arguments: [(0, 60.0), (120_000, 120), (40_000_000, 3600)])
  func `the wait is drawn from the last quarter of the interval`(age: Int, interval: Double) throws {
    let waits = try (0..<200).map { _ in try #require(Self.day.wait(age: age, asked: nil)) }
    #expect(waits.allSatisfy { (interval * 750...interval * 1000 + 1).contains(Double($0)) })
    #expect(Set(waits).count > 1)
  }

  @Test(arguments: [(30.0, 60.0), (7200, 7200)])
  func `a server that says when is not asked before`(asked: Double, least: Double) throws {
    for _ in 0..<50 {
      let wait = try #require(Self.day.wait(age: 0, asked: asked))
      #expect(Double(wait) >= asked * 1000 && Double(wait) <= least * 1000)
    }
  }

  @Test func `the last try comes at the end of the time, and after it none`() {
    let deferral = Deferral(seconds: 100)
    #expect(deferral.wait(age: 99_990, asked: nil) == 10)
    #expect(deferral.wait(age: 100_000, asked: nil) == nil)
    #expect(deferral.wait(age: .max / 2, asked: nil) == nil)
    #expect(deferral.wait(age: 50_000, asked: 51) == nil, "the server may not be asked again in time")
    #expect(deferral.wait(age: 50_000, asked: 50) == 50_000)
    #expect(deferral.wait(age: 50_000, asked: 1e300) == nil)
  }

  @Test func `without a time nothing is deferred`() {
    #expect(Deferral().wait(age: 0, asked: nil) == nil)
    #expect(Deferral(seconds: 0).wait(age: 0, asked: 1) == nil)
  }

  @Test(arguments: [1.0, 60, 3600, 86_400, 1e9])
  func `tries come to an end, after so many at most as the time has doublings and hours`(seconds: Double) {
    let deferral = Deferral(seconds: seconds)
    var (age, tries) = (0, 0)
    while tries < 400_000, let wait = deferral.wait(age: age, asked: nil) {
      #expect(wait > 0)
      (age, tries) = (age + wait, tries + 1)
    }
    #expect(Double(age) >= seconds * 1000)
    #expect(Double(tries) <= 20 + seconds / (Deferral.longest * (1 - Deferral.jitter)))
  }

  // MARK: Over restarts

  private func resumed(due: Int, first: Int, wallNow: Int) -> DeferredEntry {
    DeferredEntry(position: 7, attempts: 3, due: due, wait: 60_000, firstTried: first, wallNow: wallNow, now: 5_000_000)
  }

  @Test func `an entry of an earlier process is due when it was to be, and as old as it is`() {
    let entry = resumed(due: 1_050_000, first: 900_000, wallNow: 1_000_000)
    #expect(entry == DeferredEntry(position: 7, attempts: 3, due: 5_050_000, firstTried: 4_900_000))
    #expect(entry.position == 7 && entry.attempts == 3)
    #expect(resumed(due: 990_000, first: 900_000, wallNow: 1_000_000).due == 5_000_000, "at once")
  }

  @Test(arguments: [-864_000_000, -3_600_000, 3_600_000, 864_000_000])
  func `a clock that was set meanwhile makes no wait longer than it was, and no age negative`(by: Int) {
    let wall = 2_000_000_000
    let entry = resumed(due: wall + 30_000, first: wall - 100_000, wallNow: wall + by)
    #expect((5_000_000...5_060_000).contains(entry.due))
    #expect(entry.firstTried <= 5_000_000)
  }
}
