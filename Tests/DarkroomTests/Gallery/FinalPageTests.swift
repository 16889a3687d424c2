import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Darkroom

@Suite struct FinalPageTests {
  private final class Warnings: Sendable { let texts = Mutex<[String]>([]) }

  private let deliveries: Deliveries
  private let warnings = Warnings()
  private let run: RunContext
  private let writer: GalleryWriter

  init() throws {
    deliveries = try Deliveries()
    let root = deliveries.root
    let outbox = OutboxFolder(path: root.file("out"))
    let staging = Staging(folder: outbox.staging(of: deliveries.state), runID: "run-0001")
    try Folder.create(staging.folder)
    run = RunContext(
      number: 1, runID: "run-0001", folder: JobFolder(path: root.file("out/job"), name: "job"), staging: staging)
    let pages = GalleryPages(outbox: outbox, staging: staging, ledger: deliveries.ledger, boot: "boot") { _ in ([], 0) }
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

  @Test(arguments: [Int.min, -1, 0, 7, Int.max])
  func `a wrong number of jobs on the page that is there stops nothing`(total: Int) throws {
    let outbox = OutboxFolder(path: deliveries.root.file("out"))
    let file = PageFile(try OpenFile(creating: deliveries.root.file("out/index.html")), .outbox, title: "out")
    try file.append(#"{"jobs_total":\#(total),"instance":{"boot_id":"boot"},"jobs":[{"name":1}]}"#)
    try file.end()
    let earlier = try #require(EarlierPage(of: outbox))
    #expect(earlier.ended.isEmpty && earlier.total >= -1 && earlier.total < 1 << 41)
  }
}
