import Foundation
import Testing

@testable import Darkroom

@Suite struct BoundedTimeTests {
  private let host = Bound(.host, name: "a", option: "--per-host", limit: 6)

  @Test func `shares are those of the time, the largest first`() {
    var time = BoundedTime(now: 1000)
    time.add(Bound(.planning), until: 1500)
    time.add(host, until: 2000)
    time.add(nil, until: 3000)
    time.add(host, until: 5000)
    #expect(time.shares == [BoundedBy(host, share: 0.625), BoundedBy(Bound(.planning), share: 0.125)])
  }

  @Test func `a short time says nothing`() {
    var time = BoundedTime(now: 0)
    time.add(host, until: BoundedTime.leastTime - 1)
    #expect(time.shares == [])
    time.add(host, until: BoundedTime.leastTime)
    #expect(time.shares == [BoundedBy(host, share: 1)])
  }

  @Test func `time that is counted is not counted again, and a clock that stands still adds nothing`() {
    var time = BoundedTime(now: 0)
    time.add(host, until: 2000)
    time.add(Bound(.disk), until: 2000)
    time.add(Bound(.disk), until: 1000)
    #expect(time.shares == [BoundedBy(host, share: 1)])
    #expect(time.last == host)
  }

  @Test func `a limit that changes is no other bound, and the last is told`() {
    var time = BoundedTime(now: 0)
    for second in 1...4 { time.add(Bound(.downloads, limit: 16 * second), until: 1000 * second) }
    #expect(time.shares == [BoundedBy(Bound(.downloads, limit: 64), share: 1)])
  }

  @Test func `shares add up to 1 at most, whatever they are rounded from`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var (time, now) = (BoundedTime(now: 0), 0)
      for cause in Bound.Cause.allCases.shuffled(using: &random).prefix(7) {
        now += Int.random(in: 100...3333, using: &random)
        time.add(Bound(cause), until: now)
      }
      let shares = time.shares.map(\.share)
      #expect(shares.reduce(0, +) <= 1.000_000_1)
      #expect(shares.reduce(0, +) > 0.93)
      #expect(shares == shares.sorted(by: >))
      #expect(shares.allSatisfy { ($0 * 1000).rounded() / 1000 == $0 })
    }
  }

  @Test func `hosts are named as long as there is room, and counted together then`() {
    var time = BoundedTime(now: 0)
    for number in 1...1000 { time.add(Bound(.host, name: "\(number).test"), until: number * 100) }
    for _ in 0..<10 { time.add(Bound(.disk), until: 100_100) }
    let unnamed = time.shares.first
    #expect(unnamed?.bound == Bound(.host))
    #expect((unnamed?.share ?? 0) > 0.96)
  }

  @Test func `a share of less than a hundredth is left out`() {
    var time = BoundedTime(now: 0)
    time.add(Bound(.planning), until: 9)
    time.add(host, until: 1000)
    #expect(time.shares.map(\.bound) == [host])
  }

  @Test func `an outcome is read back with what bounded it`() throws {
    var outcome = JobOutcome(JobTally(), Transfers(), at: 1)
    #expect(outcome.boundedBy == nil)
    outcome.boundedBy = [BoundedBy(host, share: 0.5)]
    #expect(try JobOutcome(text: outcome.text) == outcome)
    #expect(
      BoundedBy.json(outcome.boundedBy)?.text
        == #"[{"cause":"host","name":"a","share":0.5,"option":"--per-host","limit":6}]"#)
    #expect(BoundedBy.json([]) == nil && BoundedBy.json(nil) == nil)
  }
}
