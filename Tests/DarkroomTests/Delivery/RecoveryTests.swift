import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import JobIndex
@testable import Model

@Suite struct RecoveryTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("a killed job goes on: intents are settled, rows kept, the rest of the index is left")
  func recovery() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<6 { try index.insert(.sample(position)) } }
    let row = { (position: Int) in
      ReportRow.sample(position, state: .filtered, output: .sample(), source: .sample()).json.text
    }
    var intents: [LedgerEntry] = []
    for position in 0..<3 {
      let delivery = try outbox.delivery("new", to: "images/\(position).jpg", position: position)
      intents.append(LedgerEntry(position: position, delivery: delivery, row: row(position)))
    }
    try outbox.write("foreign", to: "images/1.jpg")
    try Folder.rename(outbox.staging.path(outbox.staging.file(.result, of: 2)), to: outbox.folder.file("images/2.jpg"))
    try outbox.ledger.commit(intents.map { .intend($0, run: Outbox.runID) })
    let failed = LedgerEntry(position: 4, delivery: nil, row: ReportRow.sample(4, state: .failed).json.text)
    try outbox.ledger.commit([.finish(failed, run: Outbox.runID, job: "job")])

    let recovery = Recovery(run: outbox.run, ledger: outbox.ledger, index: index)
    for _ in 0..<2 {
      let tally = try recovery.recover().tally
      #expect(tally.counts.total == 4 && tally.counts.filtered == 2 && tally.counts.failed == 2)
      #expect(tally.bytes.written == 6 && tally.bytes.downloaded == 30)
    }
    try index.prepareHosts()
    #expect(try ScheduledJobs(index).everything() == [3, 5])
    #expect(outbox.text("images/0.jpg") == "new" && outbox.text("images/1.jpg") == "foreign")
    #expect(try outbox.staged.isEmpty)
    var rows: [ReportRow] = []
    try outbox.ledger.eachEndedPage(run: Outbox.runID) { rows += try $0.map { try ReportRow(parsing: $0.row) } }
    #expect(rows.map(\.index) == [0, 1, 2, 4])
    #expect(rows[1].failure?.code == "name-conflict" && rows[1].output == nil && rows[1].state == .failed)
    #expect(try outbox.ledger.output(job: "job", target: "images/1.jpg") == nil)
    let log = try #require(outbox.text("entries.jsonl"))
    #expect(try log.split(separator: "\n").map { try ReportRow(parsing: String($0)) } == rows)
  }

  @Test(arguments: [
    ("theirs\n", true), ("theirs", true), (#"{"index":0,"name":"an"#, false), ("", false),
    ("\0\0\0\n{}\n", false), (#"{"index":0,"\#u{0}\#u{0}"# + "\n", false), ("\0\0", false),
    (#"{"index":0,"name":"another"}"# + "\n", true),
  ])
  func `somebody else's file under the name of the log is kept`(text: String, isKept: Bool) throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<2 { try index.insert(.sample(position)) } }
    let rows = (0..<2).map { ReportRow.sample($0, state: .failed).json.text }
    for (position, row) in rows.enumerated() {
      try outbox.ledger.commit([
        .finish(LedgerEntry(position: position, delivery: nil, row: row), run: Outbox.runID, job: "job")
      ])
    }
    let own = rows.map { $0 + "\n" }.joined()
    for (present, isTheirs) in [(text, isKept), (rows[1] + "\n" + rows[0], false), (own, false)] {
      try outbox.write(present, to: "entries.jsonl")
      let moved = try Recovery(run: outbox.run, ledger: outbox.ledger, index: index).recover().movedAway
      #expect((moved != nil) == isTheirs)
      if let moved { #expect(try String(contentsOfFile: moved, encoding: .utf8) == present) }
      #expect(outbox.text("entries.jsonl") == own)
    }
  }

  @Test("an intent whose staged file is gone counts as delivered, and the picture that took its place is not ours")
  func replaced() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<2 { try index.insert(.sample(position)) } }
    for position in 0..<2 {
      let row = ReportRow.sample(position, state: .filtered, output: .sample(), source: .sample()).json.text
      let delivery = try outbox.delivery("new", to: "images/\(position).jpg", position: position, isStaged: false)
      let entry = LedgerEntry(position: position, delivery: delivery, row: row)
      try outbox.ledger.commit([.intend(entry, run: Outbox.runID)])
    }
    try outbox.write("theirs", to: "images/1.jpg")
    let tally = try Recovery(run: outbox.run, ledger: outbox.ledger, index: index).recover().tally
    #expect(tally.counts.filtered == 1 && tally.counts.failed == 1)
    #expect(outbox.text("images/0.jpg") == nil && outbox.text("images/1.jpg") == "theirs")
  }

  /// In staging, in its place, taken by somebody else, none any more, and that of a result which is reused.
  @Test("a preview is completed after its result, and dropped from its row where that cannot be")
  func previews() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<5 { try index.insert(.sample(position)) } }
    let name = { (position: Int) in try #require(try index.entry(at: position)).name }
    for position in 3...4 {
      let old = Delivery(
        staged: "", target: JobFolder.path(of: .preview, try name(position)), bytes: 3, sha256: Outbox.sha256("old"),
        origin: "preview")
      try outbox.ledger.commit([.recall(old, job: "job")])
    }
    try Folder.create(outbox.folder.file("previews"))
    for (position, text) in [1: "small", 2: "theirs", 3: "old", 4: "old"] {
      try outbox.write(text, to: JobFolder.path(of: .preview, try name(position)))
    }
    for position in [0, 2] { try outbox.staging.create(outbox.staging.file(.preview, of: position)).write("small") }
    for position in 0..<5 {
      var delivery = try outbox.delivery("new", to: "images/\(position).jpg", position: position)
      var provenance = Provenance(key: try .sample, source: .sample, output: .sample)
      if position < 3 { provenance.derived[.preview] = .init(bytes: 5, sha256: Outbox.sha256("small")) }
      delivery.origin = position == 4 ? "original" : provenance.text
      var row = ReportRow.sample(position, state: .filtered, output: .sample(), source: .sample())
      if position != 3 { row.derived[.preview] = JobFolder.path(of: .preview, try name(position)) }
      let entry = LedgerEntry(position: position, delivery: delivery, row: row.json.text)
      try outbox.ledger.commit([.intend(entry, run: Outbox.runID)])
    }
    let tally = try Recovery(run: outbox.run, ledger: outbox.ledger, index: index).recover().tally
    #expect(tally.counts.filtered == 5)
    let found = try (0..<5).map { outbox.text(JobFolder.path(of: .preview, try name($0))) }
    #expect(found == ["small", "small", "theirs", nil, "old"])
    #expect(try outbox.staged.isEmpty)
    var rows: [ReportRow] = []
    try outbox.ledger.eachEndedPage(run: Outbox.runID) { rows += try $0.map { try ReportRow(parsing: $0.row) } }
    #expect(rows.map { $0.derived[.preview] != nil } == [true, true, false, false, true])
    let known = try (0..<3).map {
      try outbox.ledger.output(job: "job", target: JobFolder.path(of: .preview, name($0)))
    }
    #expect(known.map { $0?.origin } == ["preview", "preview", nil])
    let origin = try outbox.ledger.output(job: "job", target: "images/2.jpg")?.origin
    #expect(origin.flatMap(Provenance.init(text:))?.derived == [:] && origin != nil)
  }

  @Test(.disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
  func `a result that can never have its name fails, and does not keep its job from going on`() throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<2 { try index.insert(.sample(position)) } }
    for position in 0..<2 {
      let row = ReportRow.sample(position, state: .filtered, output: .sample(), source: .sample()).json.text
      let delivery = try outbox.delivery("new", to: "images/\(position)/a.jpg", position: position)
      let entry = LedgerEntry(position: position, delivery: delivery, row: row)
      try outbox.ledger.commit([.intend(entry, run: Outbox.runID)])
    }
    let disk = try SmallDisk(over: outbox.root.makeFolder("out/job/images/0"), in: outbox.root, kilobytes: 64)
    let tally = try Recovery(run: outbox.run, ledger: outbox.ledger, index: index).recover().tally
    withExtendedLifetime(disk) {}
    #expect(tally.counts.filtered == 1 && tally.counts.failed == 1)
    var rows: [ReportRow] = []
    try outbox.ledger.eachEndedPage(run: Outbox.runID) { rows += try $0.map { try ReportRow(parsing: $0.row) } }
    #expect(rows[0].failure?.code == "io" && rows[0].failure?.message.contains("link") == true, "\(rows[0])")
    #expect(outbox.text("images/1/a.jpg") == "new")
    #expect(try outbox.staged.isEmpty)
  }
}
