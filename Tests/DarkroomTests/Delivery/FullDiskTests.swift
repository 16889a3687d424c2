import Database
import Glibc
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Delivery
@testable import Model

/// Deliveries for which there is no room.
@Suite(
  .blocking,
  .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
struct FullDiskTests {
  /// Deliveries with a folder on a small disk.
  private func make(_ folder: String, kilobytes: Int = 256) throws -> (deliveries: Deliveries, disk: FullDisk) {
    var disk: FullDisk?
    let deliveries = try Deliveries { root in
      disk = try FullDisk(over: root.file(folder), in: root, kilobytes: kilobytes)
    }
    return (deliveries, try #require(disk))
  }

  @Test func `an acceptance for which the ledger has no room fails, and leaves nothing in jobs`() throws {
    let (deliveries, disk) = try make("state")
    let path = try deliveries.root.write("http://h/a\n", as: "inbox/a.txt")
    let acceptance = Acceptance(
      state: deliveries.state, configuration: Configuration(processors: 1),
      record: { job, _ in try deliveries.queue.accept(job, during: []) })
    // The snapshot has room, the ledger's journal has none.
    try disk.fill(leaving: 1)
    for _ in 0..<2 {
      try disk.waitForRoom(pages: 1)
      let error = #expect(throws: SQLiteError.self) {
        try acceptance.accept(
          path: path, in: OpenFolder(Folder.parent(of: path)), job: "a", format: "txt")
      }
      #expect(error?.isOutOfSpace == true)
      #expect(try deliveries.jobs.isEmpty)
      #expect(try deliveries.ledger.liveJobs().isEmpty)
    }
    try disk.empty()
    #expect(
      try acceptance.accept(
        path: path, in: OpenFolder(Folder.parent(of: path)), job: "a", format: "txt") != nil)
    #expect(try deliveries.jobs.count == 1)
    #expect(try deliveries.ledger.liveJobs().count == 1)
  }

  @Test func `results for which the ledger has no room are rejected and removed, and delivered when they come again`()
    throws
  {
    let (deliveries, disk) = try make("state")
    let runs = try (1...2).map { try deliveries.run($0) }
    let records = try runs.map { try deliveries.filtered(0, of: $0) }
    #expect(try deliveries.staged.count == 2)
    try disk.fill()
    for record in records { deliveries.queue.deliver(record, isUrgent: true) }
    let sent = deliveries.wait(records: 2)
    #expect(sent.committed.isEmpty && sent.rejected.count == 2)
    #expect(try deliveries.staged.isEmpty)
    for run in runs {
      #expect(try deliveries.ledger.intended(run: run.runID).isEmpty)
      #expect(deliveries.text("\(run.job)/images/entry 0.jpg") == nil)
      #expect(try deliveries.log(run).isEmpty)
    }
    try disk.empty()
    for run in runs { deliveries.queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true) }
    #expect(deliveries.wait(records: 2).rows.map(\.state) == [.filtered, .filtered])
    for run in runs { #expect(deliveries.text("\(run.job)/images/entry 0.jpg") == "picture") }
  }

  @Test func `a report for which the ledger has no room is told, and delivered later`() throws {
    let (deliveries, disk) = try make("state")
    let run = try deliveries.run(1)
    deliveries.queue.deliver(try deliveries.failed(0, of: run), isUrgent: true)
    _ = deliveries.wait(records: 1)
    let report = try deliveries.report(run)
    try disk.fill()
    deliveries.queue.deliver(report)
    let error = #expect(throws: SQLiteError.self) { try deliveries.wait(reports: 1).reported[1]?.get() }
    #expect(error?.isOutOfSpace == true)
    #expect(deliveries.text("job-1/report.json") == nil)
    #expect(try deliveries.ledger.liveJobs().map(\.state) == [.running])
    try disk.empty()
    deliveries.queue.deliver(try deliveries.report(run))
    #expect(try deliveries.wait(reports: 1).reported[1]?.get().job.state == .failed)
    #expect(try ReportHead(of: OpenFile(reading: run.folder.report))?.state == .failed)
    #expect(try deliveries.ledger.liveJobs().isEmpty)
    #expect(try deliveries.jobs.isEmpty)
  }

  @Test func `changes for which there is no room are made with a later batch, before its own`() throws {
    let (deliveries, disk) = try make("state")
    try disk.fill()
    deliveries.queue.record([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    deliveries.queue.drain()
    #expect(try deliveries.ledger.liveJobs().isEmpty)
    try disk.empty()
    deliveries.queue.record([.advance("r", to: .running)])
    deliveries.queue.drain()
    #expect(try deliveries.ledger.liveJobs().map(\.state) == [.running])
  }

  @Test func `rows for which the log has no room when the program ends are durable, and so is what comes after them`()
    throws
  {
    let (deliveries, disk) = try make("out")
    let run = try deliveries.run(1)
    try deliveries.root.write(String(repeating: "\n", count: 4096), as: "out/job-1/entries.jsonl")
    try disk.fill()
    deliveries.queue.deliver(try deliveries.failed(0, of: run), isUrgent: true)
    _ = deliveries.wait(noSpace: 1)
    deliveries.queue.abandon()
    #expect(deliveries.wait(records: 1).rows.map(\.index) == [0])
    for position in 1...2 {
      deliveries.queue.deliver(try deliveries.failed(position, of: run), isUrgent: true)
      #expect(deliveries.wait(records: 1).rows.map(\.index) == [position])
    }
    #expect(try deliveries.ended(run) == [0, 1, 2])
    #expect(try deliveries.log(run).isEmpty)
    // Not without its log.
    deliveries.queue.deliver(try deliveries.report(run))
    #expect(throws: SystemError.self) { try deliveries.wait(reports: 1).reported[1]?.get() }
    #expect(deliveries.text("job-1/report.json") == nil)
  }

  @Test func `rows for which the logs have no room are waited for, and each log gets them once`() throws {
    let (deliveries, disk) = try make("out")
    let runs = try (1...6).map { try deliveries.run($0) }
    // Of all logs but one the last page has room.
    let page = String(repeating: "\n", count: 4096)
    for run in runs { try deliveries.root.write(run.number == 6 ? page : "\n", as: "out/\(run.job)/entries.jsonl") }
    try deliveries.hold()
    try disk.fill()
    for run in runs { deliveries.queue.deliver(try deliveries.failed(0, of: run), isUrgent: false) }
    deliveries.release()
    _ = deliveries.wait(noSpace: 1)
    try disk.empty()
    #expect(deliveries.wait(records: 6).committed.count == 6)
    for run in runs { #expect(try deliveries.log(run).map(\.index) == [0], "\(run.job)") }
  }
}
