import Database
import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Model

@Suite struct StateFolderTests {
  private let folder: TemporaryFolder
  private let state: StateFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("state/jobs")
    state = StateFolder(path: folder.file("state"))
  }

  private var names: [String] { get throws { try folder.names(in: "state/jobs") } }

  @Test func `what a run has in jobs is named after it, and removed with it`() throws {
    try folder.write("x", as: "state/jobs/r-1.csv.gz")
    try folder.write("x", as: "state/jobs/r-1.index")
    try folder.write("x", as: "state/jobs/r-2.json")
    #expect(state.snapshot("r-1", extension: "CSV.gz") == folder.file("state/jobs/r-1.csv.gz"))
    #expect(try names.map(StateFolder.runID) == ["r-1", "r-1", "r-2"])
    for _ in 0..<2 { state.remove("r-1", extension: "csv.gz") }
    #expect(try names == ["r-2.json"])
  }

  @Test func `a job that was in flight goes on from its snapshot`() throws {
    for name in ["inbox", "out", "state/jobs"] { try folder.makeFolder(name) }
    var configuration = Configuration(
      inbox: folder.file("inbox"), outbox: folder.file("out"), filters: nil, processors: 1)
    configuration.state = state.path
    configuration.minFree = 0
    configuration.transfer.fileRoot = packageRoot + "/Samples"
    try folder.write("chelsea-small.png\nmissing.png\n", as: "state/jobs/run-0001.txt")
    do {
      let ledger = try Ledger(path: state.ledger)
      let manifest = JobManifest(
        file: "job.txt", format: "txt", sha256: MessageDigest.hexDigest(of: "chelsea-small.png\nmissing.png\n"),
        inboxPath: nil, identity: "", accepted: 1000, configuration: configuration)
      let details = try manifest.text
      let failed = LedgerEntry(
        position: 1, delivery: nil, row: ReportRow.sample(1, state: .failed, failure: .init(.conflict("m"))).json.text)
      try ledger.commit([
        .accept(LedgerJob(runID: "run-0001", name: "job", details: details)), .advance("run-0001", to: .running),
        .name("run-0001", job: "job", pages: 0), .finish(failed, run: "run-0001", job: "job"),
      ])
    }
    let summary = try Darkroom(configuration: configuration, observe: { _ in }).run()
    #expect(summary.states == [.partial] && !summary.hadTrouble)
    #expect(try names.isEmpty)
    let head = try #require(try ReportHead(of: OpenFile(reading: folder.file("out/job/report.json"))))
    #expect(head.runID == "run-0001")
    #expect(FileManager.default.fileExists(atPath: folder.file("out/job/images/chelsea-small.png")))
    #expect(folder.text("out/job/manifest.txt") == "chelsea-small.png\nmissing.png\n")
  }
}
