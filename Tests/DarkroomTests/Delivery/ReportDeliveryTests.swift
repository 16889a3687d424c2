import Foundation
import Glibc
import Imaging
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import JobIndex
@testable import Model

/// What a process that died left of the delivery of a report.
@Suite struct ReportDeliveryTests {
  private let outbox: Outbox
  private let report: ReportDelivery
  private var target: String { outbox.folder.report }

  init() throws {
    outbox = try Outbox()
    try outbox.root.write("snapshot", as: "state/jobs/\(Outbox.runID).txt")
    var tally = JobTally()
    tally.add(.sample(0, state: .failed))
    report = try ReportFile(
      run: outbox.run, manifest: Self.manifest(), outcome: JobOutcome(tally, Transfers(), at: 5000), pauses: [],
      index: JobIndex(creating: .memory), ledger: outbox.ledger, state: outbox.state
    ).write()
    try outbox.ledger.commit(report.intents)
  }

  private func recorded() throws -> ReportDelivery? {
    let job = try #require(outbox.ledger.liveJobs().first)
    return try ReportDelivery(recorded: job, run: outbox.run, manifest: Self.manifest())
  }

  private static func manifest() throws -> JobManifest {
    JobManifest(
      file: "job.txt", format: "txt", sha256: Outbox.sha256("snapshot"), inboxPath: nil, identity: "", accepted: 1000,
      configuration: Configuration(filters: try Recipe(parsing: "none"), processors: 1))
  }

  @Test func `what is staged is delivered, once`() throws {
    let found = try #require(try recorded())
    #expect(found.documents == report.documents && found.outcome == report.outcome)
    #expect(found.documents.last?.target == "report.json")
    for _ in 0..<2 { try found.place() }
    #expect(try ReportHead(of: OpenFile(reading: target))?.runID == Outbox.runID)
    #expect(try outbox.staged.isEmpty)
    try Folder.removeFile(target)
    try found.place()
    #expect(try !FileStatus.exists(target), "whoever waited for it has taken it away")
  }

  @Test func `what was placed before the process died is not placed again, the rest is`() throws {
    let first = report.documents[0]
    try Folder.rename(outbox.staging.path(first.staged), to: outbox.root.file("taken"))
    try #require(try recorded()).place()
    #expect(try !FileStatus.exists(outbox.folder.file(first.target)))
    #expect(try FileStatus.exists(target))
  }

  @Test func `a document that is not what was staged is to be written again`() throws {
    let last = try #require(report.documents.last)
    try outbox.root.write("half", as: "staging/" + last.staged)
    #expect(try recorded() == nil)
  }

  @Test func `what is to be done at the end of a run is recorded with the intent, and due with the end`() throws {
    var file = try ReportFile(
      run: outbox.run, manifest: Self.manifest(), outcome: report.outcome, pauses: [],
      index: JobIndex(creating: .memory), ledger: outbox.ledger, state: outbox.state)
    file.notices = [.notify, .exec]
    // Written twice, as after a crash.
    for _ in 0..<2 { try outbox.ledger.commit(file.write().intents) }
    #expect(try outbox.ledger.noticeCount(.notify) == 0)
    try outbox.ledger.commit(try #require(try recorded()).ends)
    #expect(try outbox.ledger.noticeCount(.notify) == 1)
    let notice = try #require(try outbox.ledger.nextNotice(.exec))
    #expect(notice.runID == Outbox.runID && notice.state == "failed" && notice.report == target && notice.body == nil)
  }

  @Test func `the cleanup at a start leaves what is about to be delivered`() throws {
    let cleanup = OrphanCleanup(staging: try outbox.staging.open(), state: outbox.state)
    try cleanup.run(keeping: outbox.ledger.liveJobs(), ledger: outbox.ledger)
    #expect(try outbox.staged.count == report.documents.count)
  }

  @Test func `what somebody has put under the name of a document is kept, and the document has its name`() throws {
    let found = try #require(try recorded())
    let names = found.documents.map(\.target)
    for name in names { try outbox.write("theirs", to: name) }
    let moved = try found.place()
    #expect(moved.map(Folder.name) == names)
    for path in moved { #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs") }
    #expect(try ReportHead(of: OpenFile(reading: target))?.runID == Outbox.runID)
    try History(folder: outbox.folder).prune(keeping: 0)
    #expect(try moved.allSatisfy { try FileStatus.exists($0) }, "they are no run's, and never removed")
  }

  @Test func `a document that has both names after a rename by a link is its own`() throws {
    let found = try #require(try recorded())
    let first = found.documents[0]
    #expect(link(outbox.staging.path(first.staged), outbox.folder.file(first.target)) == 0)
    #expect(try found.place().isEmpty)
    #expect(try outbox.staged.isEmpty)
  }

  @Test func `this run's own documents are replaced, as after its state was restored from a backup`() throws {
    for number in 1...2 {
      var tally = JobTally()
      for position in 0..<number { tally.add(.sample(position, state: .failed)) }
      let file = ReportFile(
        run: outbox.run, manifest: try Self.manifest(), outcome: JobOutcome(tally, Transfers(), at: 5000), pauses: [],
        index: try JobIndex(creating: .memory), ledger: outbox.ledger, state: outbox.state)
      #expect(try file.write().place().isEmpty)
    }
    #expect(try ReportHead(of: OpenFile(reading: target))?.counts?.failed == 2)
    #expect(try !FileStatus.exists(outbox.folder.history))
  }

  @Test func `a folder of somebody else's files in the history is no earlier run`() throws {
    let found = try #require(try recorded())
    try outbox.write("{\n\"job\":\"job\",\n\"run_id\":\"theirs\",\n\"entries\":[\n]}\n", to: "report.json")
    #expect(try found.place().isEmpty == false)
    try Folder.removeFile(target)
    #expect(try EarlierReports(of: "job", in: OpenFolder(outbox.root.file("out"))).isEmpty)
  }
}
