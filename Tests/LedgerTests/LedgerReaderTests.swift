import Database
import Foundation
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerReaderTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  /// What of a file would show that it was written to.
  private struct Trace: Equatable {
    let bytes: Data
    let modified: Date?
  }

  private var traces: [String: Trace] {
    get throws {
      var traces: [String: Trace] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
        traces[name] = Trace(
          bytes: try Data(contentsOf: URL(fileURLWithPath: folder.file(name))),
          modified: attributes[.modificationDate] as? Date)
      }
      return traces
    }
  }

  private func change(_ statements: String...) throws {
    let database = try Database(path: path, durability: .powerCut)
    for statement in statements { try database.execute(statement) }
  }

  /// What is read, and an expectation that nothing was written.
  private func read() throws -> LedgerReader.Answer {
    let before = try traces
    defer { #expect((try? traces) == before) }
    return try LedgerReader.liveJobs(path: path)
  }

  @Test func `it has the jobs that have not ended, in the order of their acceptance`() throws {
    let jobs = ["b", "a", "c"].map { LedgerJob(runID: $0, name: "job \($0)", details: "{}") }
    do {
      let ledger = try Ledger(path: path)
      for job in jobs { try ledger.commit([.accept(job)]) }
      try ledger.commit([.advance("a", to: .ended)])
    }
    #expect(try read() == .jobs([jobs[0], jobs[2]]))
  }

  @Test(arguments: 1...LedgerSchema.migrations.newest)
  func `a ledger of an earlier version is read as it is`(version: Int) throws {
    for migration in LedgerSchema.migrations.scripts[..<version] { try change(migration) }
    try change(
      "INSERT INTO jobs (run_id, name, state, details, sequence) VALUES ('r', 'j', 'running', '{}', 1)",
      "PRAGMA user_version = \(version)")
    if version >= LedgerSchema.firstWithDigests {
      try change("UPDATE jobs SET digest = \(LedgerTable.jobs.digest(changing: [:]))")
    }
    #expect(try read() == .jobs([LedgerJob(runID: "r", name: "j", state: .running, details: "{}")]))
  }

  @Test func `a ledger that was created and never written to has no jobs`() throws {
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(try read() == .jobs([]))
  }

  @Test(arguments: ["DELETE", "WAL"])
  func `a ledger of a newer version is refused by name`(journal: String) throws {
    _ = try Ledger(path: path)
    try change("PRAGMA user_version = 99", "PRAGMA journal_mode = \(journal)")
    let error = #expect(throws: LedgerError.self) { try read() }
    #expect(error?.description.contains("version 99") == true)
  }

  @Test func `a ledger in write-ahead logging mode is not read, since that writes`() throws {
    _ = try Ledger(path: path)
    try change("PRAGMA journal_mode = WAL")
    guard case .unknown = try read() else { return #expect(Bool(false), "it was read") }
  }

  @Test func `what is no ledger is an error`() throws {
    try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: SQLiteError.self) { try read() }
    try FileManager.default.removeItem(atPath: path)
    try change("CREATE TABLE jobs (id INTEGER)")
    #expect(throws: SQLiteError.self) { try read() }
  }

  @Test func `of a damaged ledger it says that it is damaged`() throws {
    try Ledger(path: path).commit([.accept(LedgerJob(runID: "r", name: "j", details: "{}"))])
    try change("UPDATE jobs SET details = '{ }'")
    guard case .unknown(let why) = try read() else { return #expect(Bool(false), "it was read") }
    #expect(why.contains("damaged") && why.contains(path))
  }

  @Test func `a change that a process died over is not undone, and it says that it cannot tell`() throws {
    try Ledger(path: path).commit([.accept(LedgerJob(runID: "r", name: "j", details: "{}"))])
    let dead = try TemporaryFolder()
    do {
      let database = try Database(path: path, durability: .powerCut)
      // So few pages fit that the file itself is written to before the commit.
      try database.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE jobs SET name = 'half'")
      try database.execute(
        """
        WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO outputs (job, target, bytes, sha256) SELECT 'j', i, 1, 'ab' FROM n
        """)
      // What a kill would leave: locks are not copied.
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        try FileManager.default.copyItem(atPath: folder.file(name), toPath: dead.file(name))
      }
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: dead.path) {
      try? FileManager.default.removeItem(atPath: folder.file(name))
      try FileManager.default.copyItem(atPath: dead.file(name), toPath: folder.file(name))
    }
    for _ in 0..<2 {
      guard case .unknown(let why) = try read() else { return #expect(Bool(false), "it was read") }
      #expect(why.contains("the next start undoes"))
    }
    #expect(try Ledger(path: path).liveJobs().map(\.name) == ["j"])
    #expect(try LedgerReader.liveJobs(path: path) == .jobs([LedgerJob(runID: "r", name: "j", details: "{}")]))
  }
}
