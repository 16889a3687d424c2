import Foundation
import JSON
import Testing
import Transfer

@testable import Model

@Suite struct TransfersTests {
  private var transfers = Transfers()

  @Test mutating func `a host has its failures by code, its holds, and the median of its times to the first byte`()
    throws
  {
    let one = Transfers.Counts(requests: 1, retries: 0, bytes: 10, connections_reused: 1)
    for tenths in 1...9 { transfers.add(one, of: "a", firstByte: Double(tenths) / 10) }
    transfers.add(one, of: "a", failure: .httpStatus, isHeld: true)
    transfers.add(one, of: "a", failure: .httpStatus)
    transfers.add(.init(), of: "a", failure: .connect)
    transfers.add(one, of: "b")
    let host = try #require(transfers.hosts.first)
    #expect(host.failures == ["http-status": 2, "connect": 1] && host.holds == 1)
    let median = try #require(host.firstByteMedian)
    #expect(abs(median - 500) <= 500 * 0.045)
    let text = try #require(transfers.json?["hosts"]).text
    #expect(text.contains(#""failures":{"connect":1,"http-status":2},"holds":1,"first_byte_median_ms":"#), "\(text)")
    #expect(text.hasSuffix(#"{"host":"b","requests":1,"retries":0,"bytes":10,"connections_reused":1}]"#))
    let stored = try JSONEncoder().encode(transfers)
    #expect(try JSONDecoder().decode(Transfers.self, from: stored) == transfers)
  }

  @Test mutating func `a host that was not asked is listed only when something failed there`() {
    transfers.add(.init(), of: "cached")
    #expect(transfers.hosts.isEmpty && transfers.json == nil)
    transfers.add(.init(), of: "dead", failure: .hostNotFound)
    #expect(transfers.hosts.map(\.host) == ["dead"])
    #expect(transfers.json?["requests"] == .integer(0))
  }

  @Test mutating func `more hosts than a hundred are in the total only, whatever failed there`() {
    for host in 0..<150 { transfers.add(.init(requests: 1), of: "\(host)", failure: .timeout, firstByte: 1) }
    #expect(transfers.hosts.count == 100 && transfers.total.requests == 150)
  }

  @Test func `what an earlier version stored is read`() throws {
    let stored = """
      {"requests":3,"retries":1,"bytes":7,"connections_reused":0,"hosts":[
        {"host":"a","requests":3,"retries":1,"bytes":7,"connections_reused":0}]}
      """
    let transfers = try JSONDecoder().decode(Transfers.self, from: Data(stored.utf8))
    #expect(transfers.total.requests == 3)
    #expect(transfers.hosts.map(\.host) == ["a"] && transfers.hosts[0].failures == [:])
    #expect(transfers.hosts[0].firstByteMedian == nil)
  }

  @Test(arguments: [0.1, 0.73, 1, 12.3, 99, 300, 1500, 59_999, 1_600_000])
  func `a median is at most 4.5 % off, or a tenth of a millisecond`(milliseconds: Double) throws {
    var median = MedianTime()
    #expect(median.milliseconds == nil)
    for factor in [0.01, 0.5, 1, 2, 100] { median.add(milliseconds: milliseconds * factor) }
    #expect(abs(try #require(median.milliseconds) - milliseconds) <= max(0.05, milliseconds * 0.045))
  }

  @Test(arguments: [0, -1, 1e-9, 1e12])
  func `times beyond its ranges count for the first and the last`(milliseconds: Double) throws {
    var median = MedianTime()
    median.add(milliseconds: milliseconds)
    #expect((0.1...1_700_000).contains(try #require(median.milliseconds)))
  }
}
