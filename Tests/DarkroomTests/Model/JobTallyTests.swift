import Testing

@testable import Model

@Suite struct JobTallyTests {
  @Test(
    "rows add up",
    arguments: [
      ([], .succeeded), ([.filtered], .succeeded), ([.filtered, .failed], .partial),
      ([.filtered, .cancelled], .cancelled), ([.failed, .cancelled], .cancelled), ([.cancelled], .cancelled),
      ([.failed], .failed),
    ] as [([ReportRow.State], JobOutcome.State)])
  func states(states: [ReportRow.State], expected: JobOutcome.State) {
    var tally = JobTally()
    for state in states { tally.add(.sample(state: state, output: .sample(bytes: 2))) }
    #expect(tally.counts.state == expected)
    #expect(tally.counts.total == tally.counts.filtered + tally.counts.failed + tally.counts.cancelled)
    #expect(tally.counts.total == states.count)
  }

  @Test("results whose damage may show are counted, and the first ones are named in the order of the report")
  func damaged() throws {
    var tally = JobTally()
    let warnings: [ReportRow.Warning.Code?] = [
      nil, .pixelDamage, .harmlessDamage, .visibleDamage, .pixelDamage, .metadataUnreadable, .pixelDamage,
    ]
    for (index, code) in warnings.enumerated().reversed() {
      var row = ReportRow.sample(index, state: .filtered)
      row.warnings = [code].compactMap { $0 }.map { ReportRow.Warning(code: $0, message: "why") }
      tally.add(row, at: index)
    }
    let outcome = JobOutcome(tally, Transfers(), at: 0)
    #expect(outcome.damaged?.count == 4 && outcome.damaged?.position == 1)
    #expect(
      outcome.damaged?.message == #"4 results are of damaged pictures, and may look wrong: "1", "3", "4" and 1 more"#)
    #expect(try JobOutcome(text: outcome.text) == outcome)
    #expect(JobOutcome(JobTally(), Transfers(), at: 0).damaged == nil)
  }

  @Test("what was not downloaded for an entry, and what was not written for it, does not count as bytes of it")
  func bytes() {
    var tally = JobTally()
    tally.add(.sample(state: .filtered, output: .sample(bytes: 1), source: .sample(bytes: 100)))
    tally.add(.sample(state: .filtered, output: .sample(bytes: 2), source: .sample(bytes: 200, httpStatus: 304)))
    tally.add(.sample(state: .failed, source: .sample(bytes: 400, httpStatus: nil)))
    for (isReused, isCoalesced) in [(true, false), (false, true)] {
      tally.add(
        ReportRow(
          index: 0, name: "", url: "", finalURL: nil, state: .filtered, isReused: isReused, isCoalesced: isCoalesced,
          priority: "normal", attempts: 1, output: .sample(bytes: 4), source: .sample(bytes: 800), filters: "",
          timings: .init(), failure: nil, metadata: nil))
    }
    #expect(tally.bytes.downloaded == 100 + 400 + 800)
    #expect(tally.bytes.written == 1 + 2 + 4)
    #expect(tally.counts.reused == 1)
  }
}
