import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

/// What symbolic links in the outbox make of a ledger that is made anew.
@Suite struct LedgerRebuildTests {
  private let root: TemporaryFolder
  private let elsewhere: TemporaryFolder
  private let state: StateFolder

  /// Whether the outbox is held open, as by an instance.
  static let arguments = [false, true]

  init() throws {
    root = try TemporaryFolder()
    elsewhere = try TemporaryFolder()
    for name in ["state/jobs", "out"] { try root.makeFolder(name) }
    state = StateFolder(path: root.file("state"))
    for job in ["job", "other"] { try Self.leaveRuns(of: job, in: root, "out/" + job) }
  }

  /// What two runs of a job leave: a picture each, and `earlier.jpg` only the first one's report has.
  private static func leaveRuns(of job: String, in root: TemporaryFolder, _ folder: String) throws {
    try root.makeFolder(folder + "/images/sub")
    try root.makeFolder(folder + "/history/run-1")
    for name in ["now", "sub/now", "earlier", "log"] { try root.write("new", as: folder + "/images/\(name).jpg") }
    try report("run-1", ["images/earlier.jpg"], in: root, folder + "/history/run-1/report.json")
    try report("run-2", ["images/now.jpg", "images/sub/now.jpg"], in: root, folder + "/report.json")
    try root.write(row("images/log.jpg") + "\n", as: folder + "/entries.jsonl")
  }

  private static func row(_ file: String) -> String {
    let output = ReportRow.Output(file: file, picture: .sample, bytes: 3, sha256: "cd")
    return ReportRow.sample(0, state: .filtered, output: output, source: .sample()).json.text
  }

  private static func report(_ run: String, _ files: [String], in root: TemporaryFolder, _ path: String) throws {
    var failed = ReportRow.sample(1, state: .failed)
    failed.failure = .init(EntryFailure(code: .download(.dns), message: "m"), after: nil)
    try root.write(
      """
      {
      "run_id":"\(run)",
      "state":"partial",
      "counts":\(JobOutcome.Counts(total: 2, filtered: 1, failed: 1).json.text),
      "entries":[
      \((files.map(row) + [failed.json.text]).joined(separator: ",\n"))
      ]}

      """, as: path)
  }

  /// Puts something of the outbox elsewhere, and a symbolic link to it in its place.
  private func link(_ name: String) throws {
    try Folder.rename(root.file("out/" + name), to: elsewhere.file("moved"))
    try root.link("out/" + name, to: elsewhere.file("moved"))
  }

  /// Makes a ledger from the outbox.
  /// - Parameter damaged: What the damaged one holds.
  /// - Returns: The ledger, and how many reports were read.
  private func rebuild(isHeld: Bool, _ damaged: [LedgerChange] = []) throws -> (ledger: Ledger, reports: Int) {
    try Ledger(path: state.ledger).commit(damaged)
    let handle = isHeld ? try OpenFolder(root.file("out")) : nil
    let ledger = try Ledger(path: root.file("new.sqlite"))
    let outbox = OutboxFolder(path: root.file("out"), handle: handle)
    return (ledger, try LedgerRebuild(state: state, outbox: outbox, ledger: ledger).run().reports)
  }

  private func targets(_ ledger: Ledger, _ job: String) throws -> [String] {
    try ledger.outputs(after: "", "", limit: 100).filter { $0.job == job }.map(\.target)
  }

  @Test func `a result that a row describes keeps its preview, which is not taken for ours`() throws {
    try root.makeFolder("out/job/previews")
    try root.write("small", as: "out/job/previews/log.jpg")
    var output = ReportRow.Output(file: "images/log.jpg", picture: .sample, bytes: 3, sha256: "cd")
    output.settings = "keep 85 copyright none"
    var row = ReportRow.sample(0, state: .filtered, output: output, source: .sample())
    row.derived = [.preview: "previews/log.jpg"]
    try root.write(row.json.text + "\n", as: "out/job/entries.jsonl")
    let (ledger, _) = try rebuild(isHeld: false)
    let origin = try #require(try ledger.output(job: "job", target: "images/log.jpg")?.origin)
    #expect(Provenance(text: origin)?.derived[.preview]?.bytes == 5)
    #expect(try ledger.output(job: "job", target: "previews/log.jpg") == nil)
  }

  @Test func `what shards have delivered is adopted, and spares what the ledger knows of files that have not changed`()
    throws
  {
    let outbox = OutboxFolder(path: root.file("out"), handle: nil)
    let job = outbox.job("job")
    let file = try #require(try OpenFolder(root.file("out/job")).status(of: "images/log.jpg"))
    let known = [("log", file.identity.text), ("now", "of the file that was there before")].map { name, identity in
      var delivery = Delivery(staged: "", target: "images/\(name).jpg", bytes: 3, sha256: "ab", origin: nil)
      delivery.identity = identity
      return LedgerChange.deliver(delivery, job: "job")
    }
    try Ledger(path: state.ledger).commit(known)
    let rows = try root.write(
      ["log", "now", "sub/now"].map { Self.row("images/\($0).jpg") + "\n" }.joined(), as: "rows")
    let head = try #require(try ReportHead(of: job.open(file: "report.json")))
    do {
      let results = try MergedResults(of: job, in: outbox, state, wasUsed: true)
      #expect(results.notice == nil && results.lastRun == nil)
      try results.record(head) { try OpenFile(reading: rows) }
    }
    let ledger = try Ledger(path: state.ledger)
    let digests = try ["log", "now", "sub/now", "earlier"].map { name in
      try ledger.output(job: "job", target: "images/\(name).jpg")?.sha256
    }
    #expect(digests == ["ab", "cd", "cd", nil], "earlier reports count only for a ledger that is lost")
    #expect(try ledger.lastRun(job: "job") == "run-2")
  }

  private static let all = ["images/earlier.jpg", "images/log.jpg", "images/now.jpg", "images/sub/now.jpg"]

  @Test(
    arguments: [
      ("job", [], 0, nil),
      ("job/images", [], 2, "run-2"),
      ("job/images/sub", ["images/earlier.jpg", "images/log.jpg", "images/now.jpg"], 2, "run-2"),
      ("job/history", ["images/log.jpg", "images/now.jpg", "images/sub/now.jpg"], 1, "run-2"),
      ("job/history/run-1", ["images/log.jpg", "images/now.jpg", "images/sub/now.jpg"], 1, "run-2"),
      ("job/report.json", ["images/earlier.jpg", "images/log.jpg"], 1, "run-1"),
      ("job/entries.jsonl", ["images/earlier.jpg", "images/now.jpg", "images/sub/now.jpg"], 2, "run-2"),
    ] as [(String, [String], Int, String?)], arguments)
  func `what lies behind a symbolic link is not read and not ours, everything else is`(
    _ link: (name: String, ours: [String], reports: Int, lastRun: String?), isHeld: Bool
  ) throws {
    try self.link(link.name)
    let (ledger, reports) = try rebuild(isHeld: isHeld)
    #expect(try targets(ledger, "job") == link.ours)
    #expect(try ledger.lastRun(job: "job") == link.lastRun)
    #expect(reports == link.reports + 2)
    #expect(try targets(ledger, "other") == Self.all && ledger.lastRun(job: "other") == "run-2")
  }

  @Test(arguments: arguments)
  func `a report names nothing of another job, nor outside the outbox`(isHeld: Bool) throws {
    try root.write("new", as: "precious.jpg")
    let files = ["../other/images/now.jpg", "images/../../other/images/now.jpg", "../../precious.jpg"]
    try Self.report("run-2", files + [root.file("precious.jpg"), "images/now.jpg"], in: root, "out/job/report.json")
    let ledger = try rebuild(isHeld: isHeld).ledger
    #expect(try targets(ledger, "job") == ["images/earlier.jpg", "images/log.jpg", "images/now.jpg"])
  }

  @Test(arguments: ["job", "job/report.json", "job/history", "job/history/run-1"], arguments)
  func `a report behind a symbolic link ends no run`(name: String, isHeld: Bool) throws {
    let run = name.contains("history") ? "run-1" : "run-2"
    let live = LedgerJob(runID: run, name: "job", details: "{}")
    try link(name)
    let ledger = try rebuild(isHeld: isHeld, [.accept(live)]).ledger
    #expect(try ledger.liveJobs().map(\.runID) == [run])
  }
}
