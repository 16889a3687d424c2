import Foundation
import Glibc
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

/// Results that cannot be delivered now, through no fault of theirs.
@Suite(
  .blocking,
  .disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
struct HeldResultTests {
  private let deliveries: Deliveries
  private var queue: DeliveryQueue { deliveries.queue }

  // In memory what is open is written though it is immutable.
  init() throws { deliveries = try Deliveries(in: TemporaryFolder.onDisk) }

  @Test(arguments: ["job-1", "job-1/images"])
  func `a result whose folder may not be changed waits, is delivered later, and costs no other job its own`(
    _ folder: String
  ) throws {
    let runs = try (1...2).map { try deliveries.run($0) }
    try deliveries.root.makeFolder("out/" + folder)
    let immutable = try ImmutableFolder(deliveries.root.file("out/" + folder))
    try deliveries.hold()
    for run in runs {
      for position in 0..<3 { queue.deliver(try deliveries.filtered(position, of: run), isUrgent: false) }
    }
    deliveries.release()
    let first = deliveries.wait(records: 3, held: 1)
    #expect(first.committed.allSatisfy { $0.record.run.number == 2 && $0.row.state == .filtered })
    #expect(first.held == 3 && first.obstacles.mapValues(\.results) == [1: 3])
    #expect(try deliveries.staged.count == 3, "they wait in staging")
    #expect(first.rejected.isEmpty && first.broken == nil)

    immutable.release()
    let second = deliveries.wait(records: 3, held: 1)
    #expect(second.held == 0 && second.rows.allSatisfy { $0.state == .filtered })
    for run in runs {
      for position in 0..<3 { #expect(deliveries.text("\(run.job)/images/entry \(position).jpg") == "picture") }
    }
    #expect(try deliveries.staged.isEmpty)
    #expect(try deliveries.ledger.intended(run: runs[0].runID).isEmpty)
  }

  @Test func `the obstacle of a run stays that of the result that has waited longest`() throws {
    let run = try deliveries.run(1)
    try deliveries.root.makeFolder("out/job-1/images")
    let immutable = try ImmutableFolder(deliveries.root.file("out/job-1/images"))
    var reasons: Set<String> = []
    for position in 0..<3 {
      queue.deliver(try deliveries.filtered(position, of: run), isUrgent: true)
      var sent = deliveries.wait(held: 1)
      while sent.held <= position { sent = deliveries.wait(held: 1) }
      reasons.insert("\(sent.obstacles[1].map { "\($0.error)" } ?? "")")
    }
    #expect(reasons.count == 1 && reasons.first?.contains("entry 0") == true, "\(reasons)")
    immutable.release()
    #expect(deliveries.wait(records: 3).committed.count == 3)
  }

  @Test func `a queue with results that wait is released with its ledger, which the next start opens`() throws {
    let folder: TemporaryFolder
    let immutable: ImmutableFolder
    let state: StateFolder
    do {
      let deliveries = try Deliveries(in: TemporaryFolder.onDisk)
      let run = try deliveries.run(1)
      try deliveries.root.makeFolder("out/job-1/images")
      (folder, state) = (deliveries.root, deliveries.state)
      immutable = try ImmutableFolder(folder.file("out/job-1/images"))
      deliveries.queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true)
      #expect(deliveries.wait(held: 1).held == 1)
      deliveries.queue.drain(within: 0)
    }
    let opened = eventually({ try? Ledger(path: state.ledger) }, is: { $0 != nil })
    #expect(opened != nil, "the old queue still has it")
    immutable.release()
  }

  @Test func `results wait while staging is not there, and nothing is made where it was`() throws {
    let run = try deliveries.run(1)
    let record = try deliveries.filtered(0, of: run)
    for name in ["out", "staging"] {
      try Folder.rename(deliveries.root.file(name), to: deliveries.root.file("moved-" + name))
    }
    queue.deliver(record, isUrgent: true)
    #expect(deliveries.wait(held: 1).held == 1)
    #expect(try deliveries.root.names() == ["inbox", "moved-out", "moved-staging", "state"])
    #expect(try deliveries.ledger.intended(run: run.runID).isEmpty)
    for name in ["out", "staging"] {
      try Folder.rename(deliveries.root.file("moved-" + name), to: deliveries.root.file(name))
    }
    #expect(deliveries.wait(records: 1).rows.map(\.state) == [.filtered])
    #expect(deliveries.text("job-1/images/entry 0.jpg") == "picture")
  }

  @Test func `an intent whose files are all missing with their folder was not delivered`() throws {
    let run = try deliveries.run(1)
    let placement = Placement(folder: run.folder, staging: run.staging, ledger: deliveries.ledger)
    let intent = Delivery(staged: "s", target: "images/a.jpg", bytes: 1, sha256: "", origin: nil)
    #expect(throws: Never.self, "a consumer has taken it") { try placement.recover(intent) }
    try Folder.rename(deliveries.root.file("staging"), to: deliveries.root.file("moved"))
    #expect(throws: SystemError.self) { try placement.recover(intent) }
  }

  @Test func `rows that the log cannot take now come with later ones, in their order, and before the report`() throws {
    let run = try deliveries.run(1)
    let immutable = try ImmutableFolder(deliveries.root.file("out/job-1"))
    for position in 0..<2 { queue.deliver(try deliveries.failed(position, of: run), isUrgent: true) }
    #expect(deliveries.wait(records: 2).logFailed == nil)
    queue.deliver(try deliveries.report(run))
    #expect(throws: SystemError.self) { try deliveries.wait(reports: 1).reported[1]?.get() }
    immutable.release()
    queue.deliver(try deliveries.report(run))
    #expect(try deliveries.wait(reports: 1).reported[1]?.get().job.state == .failed)
    #expect(try deliveries.log(run).map(\.index) == [0, 1])
  }

  @Test func `a ledger that cannot be written is tried again until it can, and nothing is lost`() throws {
    let run = try deliveries.run(1)
    let journal = try ImmutableFolder(deliveries.state.ledger)
    queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true)
    let sent = deliveries.wait(failing: 1)
    #expect(sent.committed.isEmpty && sent.rejected.isEmpty && sent.broken == nil)
    journal.release()
    #expect(deliveries.wait(records: 1).rows.map(\.state) == [.filtered])
    #expect(deliveries.text("job-1/images/entry 0.jpg") == "picture")
  }

  @Test(.timeLimit(.minutes(30)))
  func `the end does not wait for a ledger that cannot be written, and says so`() throws {
    let run = try deliveries.run(1)
    let ledger = try ImmutableFolder(deliveries.state.ledger)
    queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true)
    #expect(deliveries.wait(failing: 1).broken == nil)
    queue.drain(within: 0.1)
    #expect(deliveries.wait(isBroken: true).broken != nil)
    ledger.release()
  }

  @Test func `results of a job that is given up fail if they cannot be delivered, and others go on waiting`() throws {
    let runs = try (1...2).map { try deliveries.run($0) }
    let immutable = try runs.map { run in
      try deliveries.root.makeFolder("out/\(run.job)/images")
      return try ImmutableFolder(deliveries.root.file("out/\(run.job)/images"))
    }
    for run in runs { queue.deliver(try deliveries.filtered(0, of: run), isUrgent: false) }
    while deliveries.wait(held: 1).held < 2 {}
    queue.giveUp(run: 1)
    let given = deliveries.wait(records: 1)
    #expect(given.rows.map(\.state) == [.failed] && given.rows.first?.failure?.code == "io", "\(given.rows)")
    #expect(given.committed.map(\.record.run.number) == [1])
    #expect(try deliveries.ledger.intended(run: runs[0].runID).isEmpty)
    for folder in immutable { folder.release() }
    #expect(deliveries.wait(records: 1).rows.map(\.state) == [.filtered])
    #expect(deliveries.text("job-2/images/entry 0.jpg") == "picture")
    #expect(try deliveries.staged.isEmpty)
  }
}
