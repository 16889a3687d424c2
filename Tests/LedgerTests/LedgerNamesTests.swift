import Database
import TestSupport
import Testing

@testable import Ledger

/// Which names the next run of a job finds.
@Suite struct LedgerNamesTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger

  init() throws {
    folder = try TemporaryFolder()
    ledger = try Ledger(path: folder.file("ledger.sqlite"))
  }

  private func accept(_ runID: String, job: String = "j") throws {
    try ledger.commit([.accept(LedgerJob(runID: runID, name: job, details: "{}"))])
  }

  /// Records names as a run that begins does.
  private func name(_ runID: String, job: String = "j", pages: Int = 1) throws {
    let names = (0..<pages).map { LedgerChange.addNames(LedgerNames(page: $0, text: "\(runID) \($0)"), run: runID) }
    try ledger.commit(names + [.name(runID, job: job, pages: pages), .advance(runID, to: .running)])
  }

  private func end(_ runID: String) throws { try ledger.commit([.advance(runID, to: .ended)]) }

  /// The pages that a run of the job finds.
  private func found(by runID: String, job: String = "j") throws -> [String] {
    guard let run = try ledger.namedRun(for: runID, job: job) else { return [] }
    var pages: [String] = []
    try ledger.eachNamesPage(of: run) { pages.append($0.text) }
    return pages
  }

  private func count(_ table: String) throws -> Int {
    try ledger.perform { try $0.first("SELECT count(*) FROM \(table)") { $0.integer(0) } ?? 0 }
  }

  @Test func `a run finds the names of the last one, whatever became of that, and its own once it has begun`() throws {
    try accept("a")
    #expect(try found(by: "a") == [])
    try name("a", pages: 20)
    #expect(try found(by: "a") == (0..<20).map { "a \($0)" })
    try end("a")
    try accept("b")
    #expect(try found(by: "b").count == 20)
    try name("b")
    #expect(try found(by: "b") == ["b 0"] && found(by: "x") == ["b 0"])
    try end("b")
    // Without derived names it records none.
    try accept("c")
    try ledger.commit([.advance("c", to: .running)])
    try end("c")
    #expect(try found(by: "d") == ["b 0"] && found(by: "d", job: "other") == [])
    #expect(try count("names") == 1 && count("named_runs") == 1)
  }

  @Test(arguments: [true, false])
  func `a run keeps its own names while another takes its place, and then those of that stay`(endsFirst: Bool) throws {
    try accept("a")
    try name("a")
    try accept("b")
    #expect(try found(by: "b") == ["a 0"])
    try name("b")
    #expect(try found(by: "a") == ["a 0"] && found(by: "b") == ["b 0"] && found(by: "c") == ["b 0"])
    // Recorded again, as after a commit of which nothing is known, it is no later one.
    try name("a")
    #expect(try found(by: "c") == ["b 0"])
    try end(endsFirst ? "a" : "b")
    #expect(try found(by: "c") == ["b 0"])
    try end(endsFirst ? "b" : "a")
    #expect(try found(by: "c") == ["b 0"] && count("names") == 1)
  }

  @Test func `names of a run that has not begun do not count, and leave with it`() throws {
    try accept("a")
    try name("a")
    try end("a")
    try accept("b")
    try ledger.commit([.addNames(LedgerNames(page: 0, text: "b 0"), run: "b")])
    #expect(try found(by: "b") == ["a 0"])
    try end("b")
    #expect(try found(by: "c") == ["a 0"] && count("names") == 1)
    try accept("d")
    try ledger.commit([.addNames(LedgerNames(page: 0, text: "d 0"), run: "d"), .remove("d")])
    #expect(try found(by: "c") == ["a 0"] && count("names") == 1)
  }

  @Test func `of a live run of an earlier version no names are known, which is no damage`() throws {
    let path = folder.file("earlier.sqlite")
    do {
      let database = try Database(path: path, durability: .powerCut)
      for migration in LedgerSchema.migrations.scripts[..<5] { try database.execute(migration) }
      for (run, state) in [("r", "running"), ("e", "ended")] {
        try database.execute(
          "INSERT INTO jobs (run_id, name, state, details, sequence) VALUES ('\(run)', 'j', '\(state)', '{}', 1)")
      }
      try database.execute("UPDATE jobs SET digest = \(LedgerTable.jobs.digest(changing: [:]))")
      try database.execute("PRAGMA user_version = 5")
    }
    let ledger = try Ledger(path: path)
    let run = try #require(try ledger.namedRun(for: "r", job: "j"))
    #expect(try run.runID == "r" && run.pages == 0 && ledger.hasAllNames(of: run))
    #expect(try ledger.check(bytes: 1) { false })
  }

  @Test func `the names of a run that is set aside stay its job's`() throws {
    try accept("a")
    try name("a")
    try ledger.commit([.remove("a")])
    #expect(try found(by: "b") == ["a 0"])
  }

  @Test func `they leave when the last run is forgotten, and not while a run is live`() throws {
    for job in ["j", "k"] {
      try accept("\(job)1", job: job)
      try name("\(job)1", job: job, pages: 2)
      try end("\(job)1")
    }
    try accept("j2")
    #expect(try ledger.lastRuns(after: "", "", limit: 9).map(\.run) == ["j1", "k1"])
    #expect(try ledger.lastRuns(after: "j", "j1", limit: 9).map(\.run) == ["k1"])
    try ledger.commit([.forget(.lastRun(job: "j", run: "j1")), .forget(.lastRun(job: "k", run: "k1"))])
    #expect(try found(by: "x").count == 2 && found(by: "x", job: "k") == [] && count("names") == 2)
  }

  @Test func `a job that is its last run and has names of another is swept once for each`() throws {
    try accept("a")
    try name("a")
    try ledger.commit([.remember("a", job: "j"), .advance("a", to: .ended)])
    #expect(try ledger.lastRuns(after: "", "", limit: 9).map(\.run) == ["a"])
    try accept("b")
    try name("b")
    try end("b")
    #expect(try ledger.lastRuns(after: "", "", limit: 9).map(\.run) == ["a", "b"])
    try ledger.commit([.forget(.lastRun(job: "j", run: "a")), .forget(.lastRun(job: "j", run: "b"))])
    #expect(try count("names") == 0 && count("named_runs") == 0 && ledger.lastRun(job: "j") == nil)
  }

  @Test(arguments: 1...4)
  func `pages of last runs may end between two of one job`(limit: Int) throws {
    for job in ["j", "k"] {
      for number in 1...3 { try accept("\(job)\(number)", job: job) }
      // While they are live all stay.
      for number in 1...3 { try name("\(job)\(number)", job: job) }
      try ledger.commit([.remember("\(job)0", job: job)])
    }
    var (found, last) = ([String](), ("", ""))
    while true {
      let page = try ledger.lastRuns(after: last.0, last.1, limit: limit)
      found += page.map(\.run)
      guard page.count == limit, let end = page.last else { break }
      last = (end.job, end.run)
    }
    #expect(found == ["j0", "j1", "j2", "j3", "k0", "k1", "k2", "k3"])
  }

  @Test func `damaged names are damage, and what is left of them is taken over`() throws {
    try accept("a")
    try name("a", pages: 3)
    try accept("b", job: "k")
    try name("b", job: "k", pages: 3)
    try ledger.perform {
      try $0.execute("UPDATE names SET names = 'x' WHERE page = 1; UPDATE named_runs SET pages = 9 WHERE job = 'k'")
    }
    #expect(throws: LedgerError.self) { try found(by: "a") }
    #expect(throws: LedgerError.self) { try found(by: "b", job: "k") }
    let new = try Ledger(path: folder.file("new.sqlite"))
    try ledger.perform { try $0.execute("VACUUM INTO '\(folder.file("copy.sqlite"))'") }
    _ = try new.salvage(from: folder.file("copy.sqlite"))
    let run = try #require(try new.namedRun(for: "a", job: "j"))
    var pages: [String] = []
    try new.eachNamesPage(of: run) { pages.append($0.text) }
    #expect(try pages == ["a 0", "a 2"] && !new.hasAllNames(of: run) && ledger.hasAllNames(of: run))
    #expect(try new.namedRun(for: "b", job: "k") == nil)
    #expect(try new.perform { try $0.first("SELECT count(*) FROM names") { $0.integer(0) } } == 2)
  }
}
