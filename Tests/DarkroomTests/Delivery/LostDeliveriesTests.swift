import Ledger
import System
import TestSupport
import Testing

@testable import Delivery
@testable import Model

@Suite struct LostDeliveriesTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  private func takeBack() throws -> (jobs: [LedgerJob], count: Int) {
    var jobs = try outbox.ledger.liveJobs()
    let folders = OutboxFolder(path: outbox.root.file("out"))
    let count = try LostDeliveries(
      outbox: folders, staging: outbox.staging.open(), ledger: outbox.ledger
    ).takeBack(&jobs)
    #expect(try jobs == outbox.ledger.liveJobs())
    return (jobs, count)
  }

  private enum Place: CaseIterable { case staged, delivered, nowhere, someoneElses }

  @Test func `an intent whose file is neither staged nor delivered is taken back`() throws {
    for (position, place) in Place.allCases.enumerated() {
      let target = "images/\(position).jpg"
      let delivery = try outbox.delivery("new", to: target, position: position, isStaged: place == .staged)
      if place == .delivered { try outbox.write("new", to: target) }
      if place == .someoneElses { try outbox.write("other", to: target) }
      let row = ReportRow.sample(position, state: .filtered, output: .sample(), source: .sample()).json.text
      let entry = LedgerEntry(position: position, delivery: delivery, row: row)
      try outbox.ledger.commit([.intend(entry, run: Outbox.runID)])
    }
    #expect(try takeBack().count == 2)
    #expect(try outbox.ledger.intended(run: Outbox.runID).map(\.position) == [0, 1])
    #expect(try takeBack().count == 0)
  }

  @Test func `of an entry whose files are not all there what is there remains the job's`() throws {
    var source = ReportRow.Source.sample()
    source.file = "originals/a.jpg"
    let delivery = try outbox.delivery("new", isStaged: false)
    try outbox.write("new", to: "images/a.jpg")
    let row = ReportRow.sample(0, state: .filtered, output: .sample(), source: source).json.text
    let entry = LedgerEntry(position: 0, delivery: delivery, row: row)
    try outbox.ledger.commit([.intend(entry, run: Outbox.runID)])
    #expect(try takeBack().count == 1)
    #expect(try outbox.ledger.intended(run: Outbox.runID).isEmpty)
    #expect(try outbox.ledger.output(job: "job", target: "images/a.jpg")?.sha256 == delivery.sha256)
    #expect(try outbox.ledger.output(job: "job", target: "originals/a.jpg") == nil)
  }

  @Test(arguments: Place.allCases)
  private func `documents are written again unless they are staged or delivered`(place: Place) throws {
    let text = "report"
    let document = Delivery(
      staged: "run-0001-report.json", target: "report.json", bytes: text.utf8.count, sha256: Outbox.sha256(text))
    if place == .staged { try outbox.root.write(text, as: "staging/" + document.staged) }
    if place == .delivered { try outbox.write(text, to: "report.json") }
    if place == .someoneElses { try outbox.write("other", to: "report.json") }
    try outbox.ledger.commit([.advance(Outbox.runID, to: .finishing, outcome: "{}", documents: [document])])
    let isKept = place == .staged || place == .delivered
    let (jobs, count) = try takeBack()
    #expect(count == (isKept ? 0 : 1))
    #expect(jobs.map(\.state) == [isKept ? .finishing : .running] && jobs.map(\.documents.count) == [isKept ? 1 : 0])
  }
}
