import Glibc
import Ledger
import System
import TestSupport
import Testing

@testable import Darkroom

@Suite struct PlacementTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("a staged file gets its final name")
  func free() throws {
    try outbox.placement.place(outbox.delivery("new"))
    #expect(outbox.text("images/a.jpg") == "new")
    #expect(try outbox.staged.isEmpty)
  }

  @Test(
    "whatever is not ours stays",
    arguments: ["file", "folder", "link", "dangling", "pipe", "changed", "of another job"])
  func foreign(kind: String) throws {
    let target = outbox.folder.file("images/a.jpg")
    switch kind {
    case "file": try outbox.write("theirs", to: "images/a.jpg")
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
      try outbox.ledger.commit([.finish(entry, run: Outbox.runID, job: "other")])
      try outbox.write("theirs", to: "images/a.jpg")
    }
    let before = try FileStatus(of: target).identity
    let failure = #expect(throws: EntryFailure.self) { try outbox.placement.place(outbox.delivery("new")) }
    #expect(failure?.code == .nameConflict && failure?.message.contains("images/a.jpg") == true)
    #expect(try FileStatus(of: target).identity == before)
    #expect(outbox.text("images/nowhere") == nil)
  }

  @Test("a file of ours that is equal already is taken for the result", arguments: [false, true])
  func equal(isKnownAsAnother: Bool) throws {
    if isKnownAsAnother { try outbox.remember(outbox.delivery("ours", isStaged: false)) }
    try outbox.write("new", to: "images/a.jpg")
    let before = try FileStatus(of: outbox.folder.file("images/a.jpg")).identity
    try outbox.placement.place(outbox.delivery("new"))
    #expect(try FileStatus(of: outbox.folder.file("images/a.jpg")).identity == before)
    #expect(try outbox.staged.isEmpty)
  }

  @Test("what this job delivered earlier is replaced")
  func ours() throws {
    try outbox.write("ours", to: "images/a.jpg")
    try outbox.remember(outbox.delivery("ours", isStaged: false))
    try outbox.placement.place(outbox.delivery("new"))
    #expect(outbox.text("images/a.jpg") == "new")
  }

  @Test("recovery: staged and no final file → it is moved")
  func recoverStaged() throws {
    try outbox.placement.recover(outbox.delivery("new", to: "images/deep/er/a.jpg"))
    #expect(outbox.text("images/deep/er/a.jpg") == "new")
  }

  @Test("recovery: the final file is the one → done, staged or not", arguments: [false, true])
  func recoverPlaced(isStaged: Bool) throws {
    try outbox.write("new", to: "images/a.jpg")
    let before = try FileStatus(of: outbox.folder.file("images/a.jpg")).identity
    try outbox.placement.recover(outbox.delivery("new", isStaged: isStaged))
    #expect(try FileStatus(of: outbox.folder.file("images/a.jpg")).identity == before)
    #expect(try outbox.staged.isEmpty)
  }

  @Test("recovery: the final file is another → conflict, staged or not", arguments: [false, true])
  func recoverForeign(isStaged: Bool) throws {
    try outbox.write("not", to: "images/a.jpg")
    let failure = #expect(throws: EntryFailure.self) {
      try outbox.placement.recover(outbox.delivery("new", isStaged: isStaged))
    }
    #expect(failure?.code == .nameConflict)
    #expect(outbox.text("images/a.jpg") == "not")
  }

  @Test("recovery: neither is there → a consumer has taken it", arguments: ["images/a.jpg", "images/gone/a.jpg"])
  func recoverTaken(target: String) throws {
    try outbox.placement.recover(outbox.delivery("new", to: target, isStaged: false))
    #expect(outbox.text(target) == nil)
  }

  @Test("recovery: what an earlier run delivered is replaced")
  func recoverOurs() throws {
    try outbox.write("ours", to: "images/a.jpg")
    try outbox.remember(outbox.delivery("ours", isStaged: false))
    try outbox.placement.recover(outbox.delivery("new"))
    #expect(outbox.text("images/a.jpg") == "new")
  }
}
