import Database
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerFailureTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger(path: folder.file("ledger.sqlite"))
  }

  private func failure(_ name: String, runs: Int = 1) -> LedgerFailure {
    LedgerFailure(name: name, firstSeen: "2026-03-01T06:30:00.012Z", runs: runs, code: "dns")
  }

  /// Has a run of a job fail with these names, and end.
  private func run(_ runID: String, of job: String = "j", failing names: [String], isRemembered: Bool = true) throws {
    try begin(runID, of: job, failing: names)
    try ledger.commit(
      (isRemembered ? [.remember(runID, job: job)] : []) + [.advance(runID, to: .ended)])
  }

  private func begin(_ runID: String, of job: String, failing names: [String]) throws {
    try ledger.commit([.accept(LedgerJob(runID: runID, name: job, details: ""))])
    try ledger.commit(
      names.enumerated().map { position, name in
        let entry = LedgerEntry(position: position, delivery: nil, failure: failure(name), row: "{}")
        return .finish(entry, run: runID, job: job)
      })
  }

  private func failures(_ runID: String) throws -> [LedgerFailure] {
    var failures: [LedgerFailure] = []
    try ledger.eachFailurePage(run: runID) { failures += $0 }
    return failures
  }

  @Test func `the failures of the last run of each job are kept, and of no other`() throws {
    #expect(try ledger.lastRun(job: "j") == nil)
    try run("a", failing: ["x", "y"])
    try run("o", of: "other", failing: ["z"])
    try run("b", failing: ["y"])
    #expect(try ledger.lastRun(job: "j") == "b")
    #expect(try ledger.lastRun(job: "other") == "o")
    #expect(try failures("b") == [failure("y")])
    #expect(try failures("o") == [failure("z")])
    #expect(try failures("a").isEmpty && !ledger.hasFailures(run: "a") && ledger.hasFailures(run: "b"))
    try run("c", failing: [])
    #expect(try ledger.lastRun(job: "j") == "c")
    #expect(try failures("b").isEmpty && !ledger.hasFailures(run: "c"))
  }

  @Test func `a run that has not ended, or does not count, changes nothing`() throws {
    try run("a", failing: ["x"])
    try begin("b", of: "j", failing: ["x", "y"])
    #expect(try ledger.lastRun(job: "j") == "a")
    #expect(try failures("a") == [failure("x")])
    try ledger.commit([.advance("b", to: .ended)])
    #expect(try ledger.lastRun(job: "j") == "a")
    #expect(try failures("a") == [failure("x")])
    #expect(try failures("b").isEmpty, "nobody asks for them again")
  }

  @Test func `more failures than a page holds come once each, in the order of their names`() throws {
    let names = (0..<1300).map { "n\(10_000 + $0)" }
    try run("a", failing: names.shuffled())
    #expect(try failures("a").map(\.name) == names)
  }

  @Test func `a ledger of the version before gets the tables, and keeps what it has`() throws {
    let path = folder.file("old.sqlite")
    do {
      let database = try Database(path: path, durability: .powerCut)
      for script in LedgerSchema.migrations.scripts.prefix(2) { try database.execute(script) }
      try database.execute("PRAGMA user_version = 2")
      try database.execute("INSERT INTO jobs VALUES ('a', 'j', 'ended', '', NULL, 1)")
    }
    let ledger = try Ledger(path: path)
    #expect(try ledger.lastEnded(job: "j")?.runID == "a")
    #expect(try ledger.lastRun(job: "j") == nil, "what failed in it is not known")
  }
}
