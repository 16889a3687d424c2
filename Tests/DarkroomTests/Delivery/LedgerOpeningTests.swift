import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

@Suite struct LedgerOpeningTests {
  private let root: TemporaryFolder
  private let state: StateFolder
  private let opening: LedgerOpening

  init() throws {
    root = try TemporaryFolder()
    for name in ["state/jobs", "out/job/images"] { try root.makeFolder(name) }
    state = StateFolder(path: root.file("state"))
    opening = LedgerOpening(state: state, outbox: OutboxFolder(path: root.file("out")), wasUsed: true)
  }

  private static func job(_ run: String) -> LedgerJob { LedgerJob(runID: run, name: "job", details: "{}") }

  private func make(_ changes: [LedgerChange] = []) throws {
    let ledger = try Ledger(path: state.ledger)
    try ledger.commit([.accept(Self.job("run-0001")), .accept(Self.job("run-0002"))] + changes)
  }

  private func damage() throws {
    try root.write(String(repeating: "no database", count: 500), as: "state/ledger.sqlite")
  }

  /// Writes a report with a picture and a failure, as another run of the job would have.
  private func report(_ run: String, at path: String, size: Int = 3) throws {
    try root.write("new", as: "out/job/images/a.jpg")
    var failed = ReportRow.sample(1, state: .failed)
    failed.failure = .init(EntryFailure(code: .download(.dns), message: "m"), after: nil)
    let rows = [ReportRow.sample(0, state: .filtered, output: .sample(bytes: size), source: .sample()), failed]
    try root.write(
      """
      {
      "run_id":"\(run)",
      "state":"partial",
      "counts":\(JobOutcome.Counts(total: 2, filtered: 1, failed: 1).json.text),
      "entries":[
      \(rows.map(\.json.text).joined(separator: ",\n"))
      ]}

      """, as: path)
  }

  private var damagedFolder: String {
    get throws { try "state/damaged/" + #require(root.names(in: "state/damaged").first) }
  }

  @Test func `a ledger in order is opened as it is, and marked until it is closed`() throws {
    try make()
    let opened = try opening.open()
    #expect(opened.notice == nil)
    #expect(try opened.ledger.liveJobs().map(\.runID) == ["run-0001", "run-0002"])
    #expect(try root.names(in: "state").contains("in-use"))
    opening.close()
    #expect(try root.names(in: "state").sorted() == ["jobs", "ledger.sqlite", "ledger.sqlite-journal"].sorted())
  }

  @Test func `a row that is not what was written is found after a process that died, and the others are kept`() throws {
    try make()
    try change()
    try root.write("", as: "state/in-use")
    do {
      let opened = try opening.open()
      #expect(
        opened.notice?.contains("damaged") == true && opened.notice?.contains(root.file("state/damaged/")) == true)
      #expect(try opened.ledger.liveJobs().map(\.runID) == ["run-0001"])
    }
    #expect(try root.names(in: damagedFolder).contains("ledger.sqlite"))
    #expect(try opening.open().notice == nil)
  }

  /// Changes the second job, and not its digest.
  private func change() throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: state.ledger))
    let place = try #require(bytes.range(of: Data("run-0002jobaccepted{}".utf8)))
    var damaged = bytes
    damaged.replaceSubrange(place, with: Data("run-0002jobaccepted[]".utf8))
    try damaged.write(to: URL(fileURLWithPath: state.ledger))
  }

  @Test func `without a row that can be read, reports tell what is ours, and what failed`() throws {
    try report("earlier-1", at: "out/job/report.json")
    try damage()
    let ledger = try opening.open().ledger
    let output = try ledger.output(job: "job", target: "images/a.jpg")
    #expect(output?.bytes == 3 && output?.sha256 == "cd" && output?.origin == nil)
    #expect(try ledger.lastRun(job: "job") == "earlier-1")
    var failures: [LedgerFailure] = []
    try ledger.eachFailurePage(run: "earlier-1") { failures += $0 }
    #expect(failures.map(\.name) == ["1"] && failures.map(\.code) == ["dns"])
  }

  @Test(arguments: [true, false], [(true, true), (false, true), (true, false)])
  func
    `a ledger that is missing or empty is made anew from reports, if there are some and the state folder has had one`(
      isEmpty: Bool, other: (wasUsed: Bool, hasReport: Bool)
    ) throws
  {
    if other.hasReport { try report("earlier-1", at: "out/job/report.json") }
    if isEmpty { try root.write("", as: "state/ledger.sqlite") }
    let opening = LedgerOpening(state: state, outbox: OutboxFolder(path: root.file("out")), wasUsed: other.wasUsed)
    let (opened, isLost) = (try opening.open(), other.wasUsed && other.hasReport)
    #expect(opened.notice?.contains(isEmpty ? "it is empty" : "the ledger was missing") == (isLost ? true : nil))
    #expect(try opened.ledger.output(job: "job", target: "images/a.jpg")?.bytes == (isLost ? 3 : nil))
    #expect(try opened.ledger.liveJobs().isEmpty)
  }

  @Test(arguments: [true, false], [("run-0001.json", true), ("run-0001.list", true), ("run-0001.index", false)])
  func `the manifest of an accepted job whose ledger is missing or empty is set aside, also before there is a report`(
    isEmpty: Bool, file: (name: String, isKept: Bool)
  ) throws {
    try root.write("{}", as: "state/jobs/" + file.name)
    if isEmpty { try root.write("", as: "state/ledger.sqlite") }
    let opened = try opening.open()
    #expect(opened.notice?.contains("the manifests of 1 job that it lost") == (file.isKept ? true : nil))
    #expect(try opened.ledger.liveJobs().isEmpty)
    if file.isKept { #expect(try root.text(damagedFolder + "/" + file.name) == "{}") }
    #expect(try root.names(in: "state/jobs").isEmpty == file.isKept)
  }

  @Test(arguments: [
    ("\"one\"", true), ("one\r\nHost: other", false), ("one\r", false), ("", false),
    (String(repeating: "x", count: 5000), false),
  ])
  func `a validator that a report shows is sent only if a server could have sent it`(etag: String, isUsed: Bool) throws
  {
    var (output, source) = (ReportRow.Output.sample(), ReportRow.Source.sample())
    output.settings = "keep 85 copyright none"
    source.etag = etag
    let row = ReportRow.sample(0, state: .filtered, output: output, source: source)
    let provenance = try #require(Provenance(ReportRow(parsing: row.json.text)))
    #expect(provenance.key == "ab keep 85 copyright none" && provenance.isAdopted)
    #expect((provenance.answer != nil) == isUsed)
  }

  @Test func `a picture whose size is another is not taken for ours, and neither is what only a log names wrongly`()
    throws
  {
    try report("earlier-1", at: "out/job/report.json", size: 4)
    try root.write("{\"index\":0}\nno row\n{\"torn", as: "out/job/entries.jsonl")
    try damage()
    let ledger = try opening.open().ledger
    #expect(try ledger.output(job: "job", target: "images/a.jpg") == nil)
  }

  @Test func `of a run without a report the log of its rows tells what is ours`() throws {
    try root.write("new", as: "out/job/images/a.jpg")
    let row = ReportRow.sample(0, state: .filtered, output: .sample(), source: .sample())
    try root.write(row.json.text + "\n", as: "out/job/entries.jsonl")
    try damage()
    let ledger = try opening.open().ledger
    #expect(try ledger.output(job: "job", target: "images/a.jpg")?.sha256 == "cd")
    #expect(try ledger.lastRun(job: "job") == nil)
  }

  @Test(arguments: ["out/job/report.json", "out/job/history/run-0001/report.json"])
  func `a run whose report was delivered has ended, whatever a damaged ledger says`(path: String) throws {
    try root.makeFolder("out/job/history/run-0001")
    try make()
    try report("run-0001", at: path)
    try change()
    let ledger = try opening.open().ledger
    #expect(try ledger.liveJobs().isEmpty)
    #expect(try ledger.lastEnded(job: "job")?.runID == "run-0001")
  }

  @Test func `the manifest of a job that was lost is set aside, with the ledger`() throws {
    try make()
    try root.write("http://h/a\n", as: "state/jobs/run-0001.txt")
    try root.write("http://h/b\n", as: "state/jobs/run-0002.txt")
    try change()
    let notice = try opening.open().notice
    #expect(notice?.contains("1 job that it lost") == true)
    #expect(try root.names(in: "state/jobs") == ["run-0001.txt"])
    #expect(try root.text(damagedFolder + "/run-0002.txt") == "http://h/b\n")
  }

  @Test func `a process that died while it made the new ledger leaves the damaged one to the next`() throws {
    try make()
    try change()
    try root.write("half a ledger", as: "state/ledger-new.sqlite")
    let opened = try opening.open()
    #expect(try opened.ledger.liveJobs().map(\.runID) == ["run-0001"])
    #expect(try !root.names(in: "state").contains { $0.hasPrefix("ledger-new") })
  }

  @Test func `a ledger of a newer version is refused, and nothing is set aside`() throws {
    try make()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: state.ledger))
    bytes[63] = 99
    try bytes.write(to: URL(fileURLWithPath: state.ledger))
    #expect(throws: LedgerError.self) { try opening.open() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: state.ledger)) == bytes)
    #expect(try !root.names(in: "state").contains("damaged"))
  }
}
