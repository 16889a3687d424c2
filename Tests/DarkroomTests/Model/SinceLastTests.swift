import JSON
import Ledger
import Testing

@testable import Model

@Suite struct SinceLastTests {
  private static let last = LedgerFailure(name: "entry 0", firstSeen: "2026-03-01T06:30:00.012Z", runs: 2, code: "dns")

  /// The row of a record that was downloaded and then filtered, or failed.
  private func row(after last: LedgerFailure?, isChanged: Bool? = nil, fails: Bool = false) throws -> ReportRow {
    let record = PhotoRecord(try .sample(), run: .sample, lastFailure: last)
    record.downloaded(.sample, taking: .zero)
    record.filtered(try .sample, from: .sample, delivering: [.sample], isChanged: isChanged, taking: .zero)
    if fails { record.fail(.conflict("taken")) }
    return record.row()
  }

  @Test func `a row that fails tells since when, and in how many runs in a row`() throws {
    let first = try #require(try row(after: nil, fails: true).failure)
    #expect(first.runs == 1)
    #expect(first.firstSeen?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    let again = try #require(try row(after: Self.last, fails: true).failure)
    #expect(again.runs == 3 && again.firstSeen == Self.last.firstSeen)
    #expect(try row(after: Self.last).failure == nil)
  }

  @Test func `what the ledger keeps of a row that failed is what the row says`() throws {
    let failed = try row(after: Self.last, fails: true)
    #expect(
      failed.ledgerFailure(name: "n")
        == LedgerFailure(name: "n", firstSeen: Self.last.firstSeen, runs: 3, code: "name-conflict"))
    #expect(try row(after: Self.last).ledgerFailure(name: "n") == nil)
  }

  @Test func `a row that failed in the last run has recovered, and is not compared with an older result`() throws {
    for isChanged in [nil, true, false] {
      let recovered = try row(after: Self.last, isChanged: isChanged)
      #expect(recovered.isRecovered && recovered.source?.isChanged == nil)
      let other = try row(after: nil, isChanged: isChanged)
      #expect(!other.isRecovered && other.source?.isChanged == isChanged)
      let failed = try row(after: Self.last, isChanged: isChanged, fails: true)
      #expect(!failed.isRecovered && failed.source?.isChanged == nil)
    }
  }

  @Test func `rows are counted by what became of them, whether they come from memory or from their JSON`() throws {
    let rows = [
      try row(after: nil), try row(after: nil, isChanged: true), try row(after: nil, isChanged: false),
      try row(after: nil, isChanged: false), try row(after: Self.last), try row(after: Self.last, isChanged: true),
      try row(after: nil, fails: true), try row(after: Self.last, fails: true), try row(after: Self.last, fails: true),
      .sample(state: .cancelled), .sample(state: .failed, failure: .init(.conflict("of an earlier version"))),
    ]
    var (tally, recovered) = (JobTally(), JobTally())
    for row in rows {
      tally.add(row)
      recovered.add(try ReportRow(parsing: row.json.text))
    }
    let expected = SinceLast(failedNew: 2, failedAgain: 2, recovered: 2, changed: 1, unchanged: 2, remade: 2)
    #expect(tally.changes == expected && recovered == tally)
    #expect(SinceLast(expected.json) == expected)
  }

  @Test func `a result that cannot be delivered after all is a failure like others`() throws {
    let row = try row(after: Self.last, isChanged: true).failed(.conflict("taken"), after: Self.last)
    #expect(row.failure?.runs == 3 && row.failure?.firstSeen == Self.last.firstSeen)
    #expect(!row.isRecovered && row.source?.isChanged == nil)
  }

  @Test func `the first run is compared with nothing, and an outcome of an older version is read`() throws {
    var tally = JobTally()
    tally.add(try row(after: nil, fails: true))
    #expect(JobOutcome(tally, .init(), at: 1).sinceLast == nil)
    let second = JobOutcome(tally, .init(), at: 1, isFirst: false)
    #expect(second.sinceLast == SinceLast(failedNew: 1))
    #expect(try JobOutcome(text: second.text) == second)
    let older = try second.text.replacing(/"sinceLast":\{[^}]*\},?/, with: "").replacing(",}", with: "}")
    #expect(try JobOutcome(text: older).sinceLast == nil)
  }

  @Test(arguments: [
    (JobOutcome.State.succeeded, 0, true), (.failed, 0, true), (.rejected, 0, false), (.partial, 1, false),
    (.cancelled, 1, false),
  ])
  func `the next run is not compared with one that was rejected or cancelled`(
    state: JobOutcome.State, cancelled: Int, counts: Bool
  ) {
    let outcome = JobOutcome(
      state: state, counts: .init(total: 3, filtered: 1, failed: 1, cancelled: cancelled), bytes: .init(),
      transfers: .init(), problems: [], finished: 1)
    #expect(outcome.countsForNext == counts)
  }
}
