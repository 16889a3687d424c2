import Glibc
import Ledger
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

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
    "a file that has another name which goes while it is read is read again, one that changes each time is not taken",
    arguments: [1, 3])
  func changing(times: Int) throws {
    let target = outbox.folder.file("images/a.jpg")
    try outbox.write("new", to: "images/a.jpg")
    let delivery = try outbox.delivery("new", isStaged: false)
    var reads = 0
    let existingFile = try ExistingFile(
      "a.jpg", in: OpenFolder(Folder.parent(of: target)), bytes: 3, sha256: delivery.sha256, known: nil,
      staging: outbox.placement.staging
    ) { (file) throws(SystemError) in
      reads += 1
      if reads <= times {
        link(target, target + ".other")
        unlink(target + ".other")
      }
      return try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path)
    }
    #expect(existingFile?.kind == (times == 1 ? .equal : nil) && reads == times + (times == 1 ? 1 : 0))
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

  private func existingFile(_ new: String, known: Delivery? = nil) throws -> ExistingFile? {
    if let known { try outbox.remember(known) }
    return try outbox.folder.existingFile(
      of: "images/a.jpg", bytes: new.utf8.count, sha256: Outbox.sha256(new),
      known: outbox.ledger.output(job: "job", target: "images/a.jpg"), staging: outbox.staging)
  }

  @Test("a file that was compared before it is to be replaced, or taken for the result, is not read again")
  func comparedBefore() throws {
    try outbox.write("new", to: "images/a.jpg")
    let equal = try #require(try existingFile("new"))
    #expect(equal.kind == .equal)
    // Other bytes to be delivered show that nobody looks at those of the file.
    #expect(try outbox.placement.place(outbox.delivery("other"), over: equal) == .adopted(equal.identity))
    #expect(outbox.text("images/a.jpg") == "new")
    let ours = try #require(try existingFile("other", known: outbox.delivery("new", isStaged: false)))
    #expect(ours.kind == .ours)
    try outbox.remember(outbox.delivery("forgotten", isStaged: false))
    #expect(try outbox.placement.place(outbox.delivery("other"), over: ours) == .replaced)
    #expect(outbox.text("images/a.jpg") == "other")
  }

  @Test("what the job has delivered since it was compared is not adopted") func deliveredSince() throws {
    try outbox.write("new", to: "images/a.jpg")
    let equal = try #require(try existingFile("new"))
    #expect(equal.kind == .equal)
    try outbox.remember(outbox.delivery("new", isStaged: false))
    #expect(try outbox.placement.place(outbox.delivery("new"), over: equal) == .replaced)
  }

  @Test("a file that was changed after it was compared is compared again, and stays", arguments: [false, true])
  func changedSince(isOurs: Bool) throws {
    try outbox.write("new", to: "images/a.jpg")
    let known = isOurs ? try outbox.delivery("new", isStaged: false) : nil
    let compared = try #require(try existingFile("new", known: known))
    #expect(compared.kind == (isOurs ? .ours : .equal))
    try outbox.write("old", to: "images/a.jpg")
    let failure = #expect(throws: EntryFailure.self) {
      try outbox.placement.place(outbox.delivery("new"), over: compared)
    }
    #expect(failure?.code == .nameConflict)
    #expect(outbox.text("images/a.jpg") == "old")
  }

  @Test(
    "of equal bytes only a regular file of our user is taken for the result",
    arguments: [
      ("file", true), ("hard link", true), ("sparse", false), ("link", false), ("folder", false), ("pipe", false),
      ("unreadable folder", false), ("other user", false),
    ])
  func kinds(kind: String, isTaken: Bool) throws {
    let target = outbox.folder.file("images/a.jpg")
    switch kind {
    case "hard link":
      try outbox.root.write("new", as: "elsewhere")
      link(outbox.root.file("elsewhere"), target)
    case "sparse":
      try OpenFile(creating: target).truncate(to: 3)
    case "link":
      try outbox.root.write("new", as: "elsewhere")
      symlink(outbox.root.file("elsewhere"), target)
    case "folder", "unreadable folder": mkdir(target, kind == "folder" ? 0o777 : 0)
    case "pipe": mkfifo(target, 0o666)
    case "other user":
      try outbox.write("new", to: "images/a.jpg")
      // Without the right to do so it stays ours.
      if chown(target, 12345, 12345) != 0 { return }
    default: try outbox.write("new", to: "images/a.jpg")
    }
    #expect(try (existingFile("new")?.kind == .equal) == isTaken)
    let before = try FileStatus(of: target).identity
    if isTaken {
      #expect(try outbox.placement.place(outbox.delivery("new")) == .adopted(before))
      #expect(try outbox.staged.isEmpty)
    } else {
      #expect(throws: EntryFailure.self) { try outbox.placement.place(outbox.delivery("new")) }
      #expect(throws: EntryFailure.self) { try outbox.placement.recover(outbox.delivery("new")) }
    }
    #expect(try FileStatus(of: target).identity == before)
  }

  @Test("recovery: a staged file that has its final name already, too, loses the first")
  func recoverLinked() throws {
    let delivery = try outbox.delivery("new")
    link(outbox.staging.path(delivery.staged), outbox.folder.file("images/a.jpg"))
    #expect(try outbox.placement.recover(delivery) == .moved)
    #expect(outbox.text("images/a.jpg") == "new")
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
