import Glibc
import Ledger
import TestSupport
import Testing

@testable import Darkroom

@Suite struct PlacementTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("a staged file gets its final name")
  func free() throws {
    #expect(try outbox.placement.place(outbox.delivery("new")) == .placed)
    #expect(outbox.text("images/a.jpg") == "new")
    #expect(try outbox.staged.isEmpty)
  }

  @Test(
    "whatever is not ours stays",
    arguments: ["file", "equal", "folder", "link", "dangling", "pipe", "changed", "of another job"])
  func foreign(kind: String) throws {
    let target = outbox.folder.file("images/a.jpg")
    switch kind {
    case "file": try outbox.write("theirs", to: "images/a.jpg")
    case "equal": try outbox.write("new", to: "images/a.jpg")
    case "folder": mkdir(target, 0o777)
    case "link":
      // Even a link to what we delivered: it is not the file that we delivered.
      try outbox.write("ours", to: "images/b.jpg")
      try outbox.remember(outbox.delivery("ours", isStaged: false))
      symlink("b.jpg", target)
    case "dangling": symlink("nowhere", target)
    case "pipe": mkfifo(target, 0o666)
    case "changed":
      try outbox.remember(outbox.delivery("ours", isStaged: false))
      try outbox.write("edited by someone", to: "images/a.jpg")
    default:
      let entry = LedgerEntry(position: 0, delivery: try outbox.delivery("theirs", isStaged: false), row: "{}")
      try outbox.ledger.finish([entry], run: Outbox.runID, job: "other")
      try outbox.write("theirs", to: "images/a.jpg")
    }
    let before = try FileStatus(of: target).identity
    guard case .conflict(let message) = try outbox.placement.place(outbox.delivery("new")) else {
      Issue.record("a foreign file was replaced")
      return
    }
    #expect(message.contains("images/a.jpg"))
    #expect(try FileStatus(of: target).identity == before)
    #expect(outbox.text("images/nowhere") == nil)
  }

  @Test("what this job delivered earlier is replaced")
  func ours() throws {
    try outbox.write("ours", to: "images/a.jpg")
    try outbox.remember(outbox.delivery("ours", isStaged: false))
    #expect(try outbox.placement.place(outbox.delivery("new")) == .placed)
    #expect(outbox.text("images/a.jpg") == "new")
  }

  @Test("recovery: staged and no final file → it is moved")
  func recoverStaged() throws {
    #expect(try outbox.placement.recover(outbox.delivery("new", to: "images/deep/er/a.jpg")) == .placed)
    #expect(outbox.text("images/deep/er/a.jpg") == "new")
  }

  @Test("recovery: the final file is the one → done, staged or not", arguments: [false, true])
  func recoverPlaced(isStaged: Bool) throws {
    try outbox.write("new", to: "images/a.jpg")
    let before = try FileStatus(of: outbox.folder.file("images/a.jpg")).identity
    #expect(try outbox.placement.recover(outbox.delivery("new", isStaged: isStaged)) == .placed)
    #expect(try FileStatus(of: outbox.folder.file("images/a.jpg")).identity == before)
    #expect(try outbox.staged.isEmpty)
  }

  @Test("recovery: the final file is another → conflict, staged or not", arguments: [false, true])
  func recoverForeign(isStaged: Bool) throws {
    try outbox.write("not", to: "images/a.jpg")
    guard case .conflict = try outbox.placement.recover(outbox.delivery("new", isStaged: isStaged)) else {
      Issue.record("a foreign file was taken for ours")
      return
    }
    #expect(outbox.text("images/a.jpg") == "not")
  }

  @Test("recovery: neither is there → a consumer has taken it", arguments: ["images/a.jpg", "images/gone/a.jpg"])
  func recoverTaken(target: String) throws {
    #expect(try outbox.placement.recover(outbox.delivery("new", to: target, isStaged: false)) == .placed)
    #expect(outbox.text(target) == nil)
  }

  @Test("recovery: what an earlier run delivered is replaced")
  func recoverOurs() throws {
    try outbox.write("ours", to: "images/a.jpg")
    try outbox.remember(outbox.delivery("ours", isStaged: false))
    #expect(try outbox.placement.recover(outbox.delivery("new")) == .placed)
    #expect(outbox.text("images/a.jpg") == "new")
  }

  @Test("a killed job goes on: intents are settled, rows kept, the rest of the index is left")
  func recovery() throws {
    let index = try JobIndex(creating: outbox.root.file("index.sqlite"))
    try index.fill {
      for position in 0..<6 {
        try index.insert(
          JobIndexRow(
            position: position, turn: 2, name: "\(position)", original: nil, isExplicit: true, url: "http://h/",
            recipe: "none", format: "keep", quality: 85, metadata: nil, checksum: nil))
      }
    }
    let row = { (position: Int) in
      #"{"index":\#(position),"state":"filtered","output":{"bytes":3},"source":{"bytes":10}}"#
    }
    var intents: [LedgerEntry] = []
    for position in 0..<3 {
      let delivery = try outbox.delivery("new", to: "images/\(position).jpg", position: position)
      intents.append(LedgerEntry(position: position, delivery: delivery, row: row(position)))
    }
    try outbox.write("foreign", to: "images/1.jpg")
    try Folder.rename(outbox.staging.path(outbox.staging.result(2)), to: outbox.folder.file("images/2.jpg"))
    try outbox.ledger.intend(intents, run: Outbox.runID)
    let failed = LedgerEntry(position: 4, delivery: nil, row: #"{"index":4,"state":"failed"}"#)
    try outbox.ledger.finish([failed], run: Outbox.runID, job: "job")

    let recovery = Recovery(placement: outbox.placement, runID: Outbox.runID, index: index)
    for _ in 0..<2 {
      let tally = try recovery.recover()
      #expect(tally.counts.total == 4 && tally.counts.filtered == 2 && tally.counts.failed == 2)
      #expect(tally.bytes.written == 6 && tally.bytes.downloaded == 30)
    }
    #expect(try JobWork(index).everything().map(\.position) == [3, 5])
    #expect(outbox.text("images/0.jpg") == "new" && outbox.text("images/1.jpg") == "foreign")
    #expect(try outbox.staged.isEmpty)
    var rows: [JSONValue] = []
    try outbox.ledger.eachEndedPage(run: Outbox.runID) { rows += try $0.map { try JSONValue(parsing: $0.row) } }
    #expect(rows.map { $0["index"]?.integer } == [0, 1, 2, 4])
    #expect(rows[1]["error"]?["code"] == .string("name-conflict") && rows[1]["output"] == nil)
    #expect(try outbox.ledger.output(job: "job", target: "images/1.jpg") == nil)
  }
}
