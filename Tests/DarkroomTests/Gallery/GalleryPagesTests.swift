import Foundation
import Synchronization
import System
import Testing
import TestSupport

@testable import Gallery
@testable import Model

/// The pages, without the program around them.
@Suite struct GalleryPagesTests {
  private final class Warnings: Sendable { let texts = Mutex<[String]>([]) }

  private let deliveries: Deliveries
  private let warnings = Warnings()
  private let run: RunContext
  private let writer: GalleryWriter

  init() throws {
    deliveries = try Deliveries()
    let root = deliveries.root
    let outbox = OutboxFolder(path: root.file("out"))
    let staging = Staging(folder: outbox.hidden + "/staging", runID: "run-0001")
    try Folder.create(staging.folder)
    run = RunContext(
      number: 1, runID: "run-0001", folder: JobFolder(path: root.file("out/job"), name: "job"), staging: staging)
    let pages = GalleryPages(outbox: outbox, staging: staging, ledger: deliveries.ledger, boot: "boot") { _ in
      ([], false)
    }
    writer = GalleryWriter(pages) { [warnings] text in warnings.texts.withLock { $0.append(text) } }
  }

  private var place: String { "out/job/index.html" }

  private func begin() throws -> FinalPage {
    let page = try #require(FinalPage(of: run, by: writer))
    page.begin(ReportHead(members: []), JobOutcome.Counts())
    return page
  }

  @Test func `it is in its place`() throws {
    try begin().place()
    #expect(deliveries.root.text(place)?.contains(PageTemplate.marker) == true)
    #expect(warnings.texts.withLock { $0 }.isEmpty)
  }

  @Test func `what somebody has put in its place meanwhile stays, and that is told`() throws {
    let page = try begin()
    try Folder.create(deliveries.root.file("out/job"))
    try deliveries.root.write("mine", as: place)
    page.place()
    #expect(deliveries.root.text(place) == "mine")
    #expect(warnings.texts.withLock { $0 }.count == 1)
    #expect(try Folder.names(in: run.staging.folder).allSatisfy { !$0.description.hasSuffix("html") })
  }

  @Test func `one that cannot be made is made again from the report, and no page says meanwhile that the job runs`()
    throws
  {
    let page = try begin()
    try Folder.create(deliveries.root.file("out/job"))
    let live = PageFile(try OpenFile(creating: deliveries.root.file(place)), .job, title: "live")
    try live.append("{}")
    try live.end()
    try Folder.removeFile(run.staging.path(run.staging.document("index.html")))
    page.place()
    #expect(deliveries.root.text(place) == nil)
    #expect(warnings.texts.withLock { $0 }.count == 1)
    try deliveries.root.write(
      "{\n\"state\":\"succeeded\",\n\"run_id\":\"run-0001\",\n\"entries\":[\n]}\n", as: "out/job/report.json")
    writer.ended(EndedRun(name: "job", runID: "run-0001", isInHistory: false))
    writer.close(GalleryWriter.Update(page: OutboxPage(), isLast: true))
    let text = try #require(deliveries.root.text(place))
    #expect(text.contains("run-0001"))
    #expect(deliveries.root.text("out/index.html")?.contains(#""page":"job/index.html""#) == true)
  }

  @Test func `what was examined since the machine's start is not examined again`() throws {
    // Not the outbox whose pages the writer of this suite examines, at any time.
    let outbox = OutboxFolder(path: deliveries.root.file("other"))
    try Folder.create(outbox.path)
    let page = PageFile(try OpenFile(creating: deliveries.root.file("other/index.html")), .outbox, title: "out")
    try page.append(#"{"instance":{"boot_id":"boot","checked_to":"b"},"jobs":[]}"#)
    try page.end()
    for job in ["a", "b", "c", "d"] {
      try deliveries.root.makeFolder("other/\(job)")
      try deliveries.root.write("", as: "other/\(job)/index.html")
      try deliveries.root.write("", as: "other/\(job)/entries.jsonl")
    }
    let pages = GalleryPages(outbox: outbox, staging: run.staging, ledger: deliveries.ledger, boot: "boot") { _ in
      ([], false)
    }
    pages.load()
    pages.checkPages()
    #expect(["a", "b", "c", "d"].map { deliveries.root.text("other/\($0)/index.html") } == ["", "", nil, nil])
    _ = pages.write(GalleryWriter.Update(page: OutboxPage(), isLast: true), ended: [])
    let earlier = try #require(EarlierPage(of: outbox))
    #expect(earlier.boot == "boot" && earlier.checkedTo == nil)
  }

  @Test(arguments: ["1", "-1", "\"x\"", "null", "1e999"])
  func `what is wrong on the outbox's page that is there stops nothing`(value: String) throws {
    let outbox = OutboxFolder(path: deliveries.root.file("out"))
    let file = PageFile(try OpenFile(creating: deliveries.root.file("out/index.html")), .outbox, title: "out")
    try file.append(
      #"{"has_older":\#(value),"instance":{"boot_id":"boot","checked_to":\#(value)},"jobs":[{"name":\#(value)}]}"#)
    try file.end()
    let earlier = EarlierPage(of: outbox)
    #expect(earlier?.ended.isEmpty != false && earlier?.hasOlder != true)
  }
}
