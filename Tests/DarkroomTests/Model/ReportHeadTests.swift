import JSON
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import JobIndex
@testable import Model

@Suite struct ReportHeadTests {
  private let outbox: Outbox
  private var path: String { outbox.folder.report }

  init() throws { outbox = try Outbox() }

  private static func outcome(_ state: JobOutcome.State, problems: Int = 0) -> JobOutcome {
    JobOutcome(
      state: state, counts: .init(total: 2, filtered: 1, failed: 1), bytes: .init(), transfers: Transfers(),
      problems: (0..<problems).map { .init(code: "syntax", message: "\"entries\":[ \($0)", location: "line \($0)") },
      finished: 5000)
  }

  /// Writes the report as a run does.
  private func write(_ outcome: JobOutcome, rows: [ReportRow] = [], pauses: [LedgerPause] = []) throws {
    try outbox.root.write("x", as: "state/jobs/\(Outbox.runID).txt")
    try outbox.ledger.commit(
      rows.map { row in
        .finish(
          LedgerEntry(position: row.index, delivery: nil, row: row.json.text), run: Outbox.runID, job: "job")
      })
    let file = ReportFile(
      run: outbox.run, manifest: try .sample(), outcome: outcome, pauses: pauses,
      index: try JobIndex(creating: .memory), ledger: outbox.ledger, state: outbox.state)
    try file.write().place()
  }

  @Test(arguments: [JobOutcome.State.succeeded, .partial, .failed, .cancelled, .rejected])
  func `the head of a report tells its run and its state`(state: JobOutcome.State) throws {
    try write(Self.outcome(state, problems: state == .rejected ? 100 : 0))
    let head = try #require(try ReportHead(of: OpenFile(reading: path)))
    #expect(head.runID == Outbox.runID && head.state == state)
  }

  @Test func `however long the rows are, the head is read`() throws {
    let rows = (0..<3).map { index in
      var row = ReportRow.sample(index, state: .failed)
      row.failure = .init(.conflict(String(repeating: "é", count: 500_000)))
      return row
    }
    try write(Self.outcome(.partial), rows: rows)
    #expect(try FileStatus(of: path).size > 3_000_000)
    let head = try #require(try ReportHead(of: OpenFile(reading: path)))
    #expect(head.runID == Outbox.runID && head.state == .partial)
  }

  @Test func `what is read is what was written, and the report as a whole is JSON`() throws {
    let pauses = [LedgerPause(cause: "lock", lock: "a.lock", reason: "\"entries\":[", began: 2000, ended: 3000)]
    try write(
      Self.outcome(.partial), rows: [.sample(0, state: .cancelled), .sample(1, state: .cancelled)], pauses: pauses)
    let head = try #require(try ReportHead(of: OpenFile(reading: path)))
    let manifest = try JobManifest.sample()
    #expect(
      head == ReportHead(run: outbox.run, manifest: manifest, outcome: Self.outcome(.partial), pauses: pauses))
    let report = try JSONValue(parsing: #require(outbox.text("report.json")))
    guard case .array(let rows)? = report["entries"] else { return #expect(Bool(false), "there are no rows") }
    #expect(rows.map { $0["index"] } == [.integer(0), .integer(1)])
    #expect(report["paused_s"] == .number(1))
  }

  @Test(
    arguments: [
      "", "no json", "{}", "[]", "{\"run_id\":\"20240102T030405Z-0a1b2c3d\"}",
      "{\"run_id\":\"20240102T030405Z-0a1b2c3d\",",
      "{\n\"run_id\":\"20240102T030405Z-0a1b2c3d\",\n\"state\":\"failed\",\n", "{\n\"state\":\n\"entries\":[\n]}",
      "\"entries\":[\n]}", "{\n\"a\":1\n\"entries\":[\n]}",
    ])
  func `a file that is no report of ours has no head`(text: String) throws {
    try outbox.write(text, to: "report.json")
    #expect(try ReportHead(of: OpenFile(reading: path)) == nil)
  }

  @Test func `a long file that is no report has no head`() throws {
    try outbox.write("{\"a\":\"" + String(repeating: "x", count: 3_000_000), to: "report.json")
    #expect(try ReportHead(of: OpenFile(reading: path)) == nil)
  }

  @Test func `what cannot be read is an error`() throws {
    try outbox.root.makeFolder("out/job/report.json")
    #expect(throws: SystemError.self) { try ReportHead(of: OpenFile(reading: path)) }
  }

  @Test func `the head of a report is read whatever its size`() throws {
    let pauses = (0..<1000).map { number in
      LedgerPause(
        cause: "lock", lock: "\(number)", reason: String(repeating: "r", count: 2000), began: number, ended: 9000)
    }
    try write(Self.outcome(.partial), pauses: pauses)
    let head = try ReportHead(of: OpenFile(reading: path))
    #expect(head?.state == .partial && head?.runID == Outbox.runID)
    #expect(try OpenFile(reading: path).status().size > 2_000_000)
  }
}
