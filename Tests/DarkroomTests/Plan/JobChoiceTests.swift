import Glibc
import Ledger
import Testing

@testable import Darkroom

@Suite struct JobChoiceTests {
  private static func manifest(_ file: String, size: Int = 1) -> InboxScan.Manifest {
    .init(file: file, job: file, identity: .sample(size: size))
  }

  private static let job = LedgerJob(runID: "r", name: "old", details: "{}")

  /// Takes in a look at which everything is settled.
  private static func look(_ choice: inout JobChoice, at manifests: [InboxScan.Manifest]) {
    let fresh = choice.fresh(of: manifests)
    choice.see(fresh, settled: fresh)
  }

  @Test(arguments: [JobChoice.Goal.inbox, .watch, .named(["x.txt"])])
  func `nothing begins before the inbox was looked at`(goal: JobChoice.Goal) {
    var choice = JobChoice(goal: goal, unfinished: [Self.job])
    #expect(choice.next() == .nothing)
    #expect(!choice.isOver)
  }

  @Test func `what an earlier process left comes first, then what was named`() {
    var choice = JobChoice(goal: .named(["x.txt", "y.txt"]), unfinished: [Self.job])
    Self.look(&choice, at: [Self.manifest("a.txt")])
    #expect(choice.next() == .resume(Self.job))
    #expect(choice.queued(limit: 9) == (["x.txt", "y.txt", "a.txt"], 3))
    #expect(choice.next() == .named("x.txt"))
    #expect(!choice.isOver)
    #expect(choice.next() == .named("y.txt"))
    #expect(choice.next() == .nothing, "what lies in the inbox was not named")
    #expect(choice.isOver)
  }

  @Test func `run takes what lay there at the first look and no more`() {
    var choice = JobChoice(goal: .inbox, unfinished: [])
    let (a, b, c) = (Self.manifest("a"), Self.manifest("b"), Self.manifest("c"))
    Self.look(&choice, at: [a, b])
    #expect(choice.next() == .dropped(a))
    choice.pass("a", identity: a.identity.text)
    Self.look(&choice, at: [a, b, c])
    #expect(choice.next() == .dropped(b))
    choice.pass("b", identity: b.identity.text)
    #expect(choice.next() == .nothing)
    #expect(choice.isOver)
  }

  @Test func `watch takes what comes, and a file again when it has changed`() {
    var choice = JobChoice(goal: .watch, unfinished: [])
    let (old, new) = (Self.manifest("a", size: 1), Self.manifest("a", size: 2))
    Self.look(&choice, at: [old])
    #expect(choice.next() == .dropped(old))
    choice.pass("a", identity: old.identity.text)
    Self.look(&choice, at: [old])
    #expect(choice.next() == .nothing)
    Self.look(&choice, at: [new])
    #expect(choice.next() == .dropped(new))
    #expect(!choice.isOver)
  }

  @Test func `a file that could not be taken is offered again at the next look, and run waits for it`() {
    var choice = JobChoice(goal: .inbox, unfinished: [])
    let a = Self.manifest("a")
    Self.look(&choice, at: [a])
    #expect(choice.next() == .dropped(a))
    #expect(choice.next() == .nothing)
    #expect(!choice.isOver)
    Self.look(&choice, at: [a])
    #expect(choice.next() == .dropped(a))
    Self.look(&choice, at: [])
    #expect(choice.isOver, "it went away")
  }

  @Test func `a file that is not settled is waited for and not taken`() {
    var choice = JobChoice(goal: .inbox, unfinished: [])
    let fresh = choice.fresh(of: [Self.manifest("a")])
    choice.see(fresh, settled: [])
    #expect(choice.next() == .nothing)
    #expect(!choice.isOver)
    #expect(choice.queued(limit: 9) == (["a"], 1))
  }

  @Test func `names that differ in their bytes alone are different files`() {
    var choice = JobChoice(goal: .watch, unfinished: [])
    let (composed, decomposed) = (Self.manifest("\u{e9}"), Self.manifest("e\u{301}"))
    Self.look(&choice, at: [composed, decomposed])
    #expect(choice.next() == .dropped(composed))
    choice.pass("\u{e9}", identity: composed.identity.text)
    #expect(choice.next() == .dropped(decomposed))
  }

  @Test func `of a long queue the first are told, and how many there are`() {
    var choice = JobChoice(goal: .watch, unfinished: [])
    Self.look(&choice, at: (0..<500).map { Self.manifest("\($0)") })
    choice.pass("0", identity: FileIdentity.sample(size: 1).text)
    #expect(choice.queued(limit: 2) == (["1", "2"], 499))
  }
}

extension FileIdentity {
  fileprivate static func sample(size: Int) -> FileIdentity {
    var status = stat()
    status.st_size = off_t(size)
    return FileIdentity(status)
  }
}
