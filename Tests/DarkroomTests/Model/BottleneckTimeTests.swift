import Foundation
import Testing

@testable import Model

@Suite struct BottleneckTimeTests {
  private let host = Bottleneck(.host, name: "a", option: "--per-host", limit: 6)

  private func host(share: Double) -> Bottleneck {
    Bottleneck(.host, name: "a", option: "--per-host", limit: 6, share: share)
  }

  @Test func `shares are those of the time, the largest first`() {
    var time = BottleneckTime(now: 1000)
    time.add(Bottleneck(.planning), until: 1500)
    time.add(host, until: 2000)
    time.add(nil, until: 3000)
    time.add(host, until: 5000)
    #expect(time.shares == [host(share: 0.625), Bottleneck(.planning, share: 0.125)])
  }

  @Test func `a short time says nothing`() {
    var time = BottleneckTime(now: 0)
    time.add(host, until: BottleneckTime.leastTime - 1)
    #expect(time.shares == [])
    time.add(host, until: BottleneckTime.leastTime)
    #expect(time.shares == [host(share: 1)])
  }

  @Test func `time that is counted is not counted again, and a clock that stands still adds nothing`() {
    var time = BottleneckTime(now: 0)
    time.add(host, until: 2000)
    time.add(Bottleneck(.disk), until: 2000)
    time.add(Bottleneck(.disk), until: 1000)
    #expect(time.shares == [host(share: 1)])
    #expect(time.last == host)
  }

  @Test func `a limit that changes makes no other bottleneck, and the last counts`() {
    var time = BottleneckTime(now: 0)
    for second in 1...4 { time.add(Bottleneck(.downloads, limit: 16 * second), until: 1000 * second) }
    #expect(time.shares == [Bottleneck(.downloads, limit: 64, share: 1)])
  }

  @Test func `shares add up to 1 at most, whatever they are rounded from`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var (time, now) = (BottleneckTime(now: 0), 0)
      for cause in Bottleneck.Cause.allCases.shuffled(using: &random).prefix(7) {
        now += Int.random(in: 100...3333, using: &random)
        time.add(Bottleneck(cause), until: now)
      }
      let shares = time.shares.compactMap(\.share)
      #expect(shares.reduce(0, +) <= 1.000_000_1)
      #expect(shares.reduce(0, +) > 0.93)
      #expect(shares == shares.sorted(by: >))
      #expect(shares.allSatisfy { ($0 * 1000).rounded() / 1000 == $0 })
    }
  }

  @Test func `hosts are named as long as there is room, and counted together then`() {
    var time = BottleneckTime(now: 0)
    for number in 1...1000 { time.add(Bottleneck(.host, name: "\(number).test"), until: number * 100) }
    for _ in 0..<10 { time.add(Bottleneck(.disk), until: 100_100) }
    let unnamed = time.shares.first
    #expect(unnamed?.cause == .host && unnamed?.name == nil)
    #expect((unnamed?.share ?? 0) > 0.96)
  }

  @Test func `a share of less than a hundredth is left out`() {
    var time = BottleneckTime(now: 0)
    time.add(Bottleneck(.planning), until: 9)
    time.add(host, until: 1000)
    #expect(time.shares.map(\.cause) == [.host])
  }

  @Test func `an outcome is read back with its bottlenecks`() throws {
    var outcome = JobOutcome(JobTally(), Transfers(), at: 1)
    #expect(outcome.bottlenecks == nil)
    outcome.bottlenecks = [host(share: 0.5)]
    #expect(try JobOutcome(text: outcome.text) == outcome)
    #expect(
      Bottleneck.json(outcome.bottlenecks)?.text
        == #"[{"cause":"host","name":"a","share":0.5,"option":"--per-host","limit":6}]"#)
    #expect(Bottleneck.json([]) == nil && Bottleneck.json(nil) == nil)
  }
}
