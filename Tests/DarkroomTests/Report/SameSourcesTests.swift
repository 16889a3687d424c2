import Foundation
import System
import Testing

@testable import Delivery
@testable import Model

@Suite struct SameSourcesTests {
  private func digest(_ number: Int) -> String { MessageDigest.hexDigest(of: "\(number)") }

  private func row(_ sha256: String, url: Int, state: ReportRow.State = .filtered) -> ReportRow {
    .sample(
      url: "http://h/\(url)", state: state, source: .init(picture: nil, bytes: 1, sha256: sha256, httpStatus: 200))
  }

  @Test(arguments: [(1, 5), (5, 5), (59_999, 5), (60_000, 6), (1_000_000, 100)])
  func `how many are doubtful depends on the size of the job`(total: Int, threshold: Int) {
    #expect(SourceCounts(total: total).threshold == threshold)
  }

  @Test func `a source is frequent when as many rows have it, whatever others have`() {
    let counts = SourceCounts(total: 10_000)
    for number in 0..<4 {
      counts.add(row(digest(0), url: number))
      counts.add(row(digest(0), url: number, state: .failed))
      #expect(!counts.isAnyFrequent, "\(number)")
    }
    counts.add(row(digest(0), url: 4))
    #expect(counts.isAnyFrequent && counts.isFrequent(digest(0)))
    #expect((1...1000).filter { counts.isFrequent(digest($0)) }.count < 3, "few share a counter")
  }

  @Test func `a job of a few entries counts nothing`() {
    let counts = SourceCounts(total: 4)
    for number in 0..<9 { counts.add(row(digest(0), url: number)) }
    #expect(!counts.isAnyFrequent && !counts.isFrequent(digest(0)))
  }

  @Test func `one URL many times is not looked at twice`() {
    let counts = SourceCounts(total: 10_000)
    for _ in 0..<10_000 { counts.add(row(digest(0), url: 0)) }
    #expect(!counts.isAnyFrequent)
  }

  @Test func `in a large job of different sources hardly any is looked at twice`() {
    let counts = SourceCounts(total: 200_000)
    for number in 0..<200_000 { counts.add(row(digest(number), url: number)) }
    #expect((0..<200_000).filter { counts.isFrequent(digest($0)) }.count < 20)
  }

  @Test func `a warning names the number, the digest and the first names, the most frequent source first`() {
    var same = SameSources(threshold: 5)
    for number in 0..<4 { same.add(digest(4), index: number, request: "\(number)") { "few" } }
    for number in 0..<5 { same.add(digest(5), index: 10 + number, request: "\(number)") { "a\(number)" } }
    for number in 0..<50 { same.add(digest(6), index: 20 + number, request: "\(number % 9)") { "b\(number)" } }
    #expect(same.warnings.map(\.location) == ["entries[20]", "entries[10]"])
    #expect(same.warnings[0].message.hasPrefix("9 different URLs"))
    #expect(same.warnings[0].message.contains(digest(6).prefix(12)))
    #expect(same.warnings[1].message.hasSuffix(#""a0", "a1", "a2" and 2 more"#))
    #expect(same.warnings[0].json["code"]?.string == "same-source")
  }

  @Test func `beyond a number different requests are not counted`() {
    var same = SameSources(threshold: 5)
    for number in 0...SameSources.requestLimit { same.add(digest(0), index: number, request: "\(number)") { "n" } }
    #expect(same.warnings.first?.message.hasPrefix("at least \(SameSources.requestLimit) different") == true)
  }
}
