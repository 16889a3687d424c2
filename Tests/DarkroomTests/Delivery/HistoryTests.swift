import Foundation
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

@Suite struct HistoryTests {
  private let outbox: Outbox
  private var history: History { History(folder: outbox.folder) }
  private static let earlier = "20240102T030405Z-0a1b2c3d"

  init() throws { outbox = try Outbox() }

  private func leaveRun(_ id: String) throws {
    try outbox.write(
      "{\n\"schema_version\":1,\n\"job\":\"job\",\n\"run_id\":\"\(id)\",\n\"entries\":[\n]}\n", to: "report.json")
    for name in ["manifest.json", "entries.jsonl", "job.failed.jsonl"] { try outbox.write(id, to: name) }
  }

  @Test("an earlier run goes under its own id, its pictures and what is not ours stay")
  func putAside() throws {
    try leaveRun(Self.earlier)
    let foreign = ["notes.txt", "manifest", "manifest.json.bak", "manifest.doc", "other.failed.jsonl", "report.json~"]
    for name in foreign + ["images/a.jpg"] { try outbox.write("x", to: name) }
    try history.putAside()
    #expect(try outbox.root.names(in: "out/job") == (foreign + ["history", "images"]).sorted())
    #expect(try outbox.root.names(in: "out/job/history") == [Self.earlier])
    #expect(
      try outbox.root.names(in: "out/job/history/" + Self.earlier) == [
        "entries.jsonl", "job.failed.jsonl", "manifest.json", "report.json",
      ])
    #expect(outbox.text("images/a.jpg") == "x")
  }

  @Test("doing it twice does it once, and the next run gets a folder of its own")
  func twice() throws {
    try leaveRun(Self.earlier)
    try history.putAside()
    try history.putAside()
    try leaveRun("20250102T030405Z-ffffffff")
    try history.putAside()
    #expect(try outbox.root.names(in: "out/job/history") == [Self.earlier, "20250102T030405Z-ffffffff"])
    #expect(outbox.text("history/\(Self.earlier)/entries.jsonl") == Self.earlier)
  }

  @Test("interrupted between two files it goes on into the same folder")
  func interrupted() throws {
    try leaveRun(Self.earlier)
    try outbox.root.makeFolder("out/job/history/" + Self.earlier)
    for name in ["entries.jsonl", "job.failed.jsonl"] {
      try Folder.rename(outbox.folder.file(name), to: outbox.folder.file("history/\(Self.earlier)/\(name)"))
    }
    try history.putAside()
    #expect(try outbox.root.names(in: "out/job/history") == [Self.earlier])
    #expect(try outbox.root.names(in: "out/job/history/" + Self.earlier).count == 4)
  }

  @Test(
    "a report that does not tell its run does not lead out of the folder",
    arguments: [
      "", "no json", #"{"run_id":"../../../../tmp/x"}"#, #"{"run_id":"/etc/passwd"}"#, #"{"run_id":"short"}"#,
    ])
  func damagedReport(report: String) throws {
    try outbox.write(report, to: "report.json")
    try history.putAside()
    #expect(try outbox.root.names(in: "out/job") == ["history", "images"])
    let run = try #require(try outbox.root.names(in: "out/job/history").first)
    #expect(run.wholeMatch(of: /[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}/) != nil, "\(run)")
    #expect(outbox.text("history/\(run)/report.json") == report)
  }

  @Test("a first run leaves no history")
  func first() throws {
    try history.putAside()
    #expect(try outbox.root.names(in: "out/job") == ["images"])
  }

  @Test(arguments: [["manifest.txt"], ["entries.jsonl"], ["job.failed.jsonl"], ["manifest.txt", "report.json"]])
  func `what has the names of documents before the first run is others', and is never removed`(names: [String]) throws {
    for name in names { try outbox.write("theirs", to: name) }
    let moved = try history.putAside(hasEarlierRun: false)
    #expect(try outbox.root.names(in: "out/job") == ["history", "images"])
    let folder = try #require(outbox.root.names(in: "out/job/history").first)
    #expect(!History.isRun(folder))
    #expect(moved.sorted() == names.map { outbox.folder.file("history/\(folder)/\($0)") }.sorted())
    #expect(names.allSatisfy { outbox.text("history/\(folder)/\($0)") == "theirs" })
  }

  @Test func `a report tells its run also when the ledger does not know it`() throws {
    try leaveRun(Self.earlier)
    #expect(try history.putAside(hasEarlierRun: false).isEmpty)
    #expect(try outbox.root.names(in: "out/job/history") == [Self.earlier])
  }

  @Test(arguments: [true, false])
  func `a file that is called like another run's manifest stays where it is`(hasReport: Bool) throws {
    try leaveRun(Self.earlier)
    let manifest = #""manifest":{"file":"list.json","format":"json"},"#
    try outbox.write(
      "{\n\"job\":\"job\",\n\"run_id\":\"\(Self.earlier)\",\n\(manifest)\n\"entries\":[\n]}\n", to: "report.json")
    if !hasReport { try Folder.removeFile(outbox.folder.report) }
    try outbox.write("theirs", to: "manifest.csv")
    try history.putAside()
    #expect(outbox.text("manifest.csv") == "theirs")
    #expect((outbox.text("manifest.json") == nil) == hasReport, "without a report neither is known to be the run's")
  }
}
