import Database
import Foundation
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerFileTests {
  let folder: TemporaryFolder
  var path: String { folder.file("ledger.sqlite") }
  var bytes: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: path)) } }

  init() throws { folder = try TemporaryFolder() }

  private func makeLedger() throws {
    try Ledger(path: path).commit([.accept(LedgerJob(runID: "r", name: "j", details: "{}"))])
  }

  private func change(_ statements: String...) throws {
    let database = try Database(path: path, durability: .powerCut)
    for statement in statements { try database.execute(statement) }
  }

  @Test("a ledger of a newer version is refused by name and left as it is", arguments: ["DELETE", "WAL"])
  func newer(journal: String) throws {
    try makeLedger()
    try change("PRAGMA user_version = 99", "PRAGMA journal_mode = \(journal)")
    let before = try bytes
    let error = #expect(throws: LedgerError.self) { try Ledger(path: path) }
    #expect(error?.description.contains("version 99") == true)
    #expect(error?.description.contains(path) == true)
    #expect(try bytes == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ledger.sqlite"])
  }

  @Test("a version below 0 is refused, too")
  func negativeVersion() throws {
    try makeLedger()
    try change("PRAGMA user_version = -1")
    let before = try bytes
    #expect(throws: LedgerError.self) { try Ledger(path: path) }
    #expect(try bytes == before)
  }

  @Test("a ledger that is open cannot be opened a second time", arguments: [false, true])
  func secondOpener(existed: Bool) throws {
    if existed { try makeLedger() }
    let first = try Ledger(path: path)
    #expect(throws: SQLiteError.self) { try Ledger(path: path) }
    try first.commit([.accept(LedgerJob(runID: "s", name: "k", details: ""))])
    #expect(try first.liveJobs().count == (existed ? 2 : 1))
  }

  @Test("once it is closed it can be opened again, and a migrated ledger is not migrated again")
  func reopening() throws {
    try makeLedger()
    let before = try bytes
    _ = try Ledger(path: path)
    #expect(try bytes == before)
  }

  @Test(
    "a ledger of every earlier version is brought to this one, and keeps what it has, also without its version",
    arguments: 1..<5, [true, false])
  func earlier(version: Int, isNumbered: Bool) throws {
    for migration in LedgerSchema.migrations.scripts[..<version] { try change(migration) }
    try change(
      "INSERT INTO jobs VALUES ('r', 'j', 'running', '{}', NULL, 1)",
      """
      INSERT INTO entries (run_id, position, ended, staged, target, bytes, sha256, row)
      VALUES ('r', 0, 0, 's', 'images/a.jpg', 5, 'ab', '{}')
      """,
      "INSERT INTO outputs (job, target, bytes, sha256) VALUES ('j', 'images/b.jpg', 7, 'cd')",
      "PRAGMA user_version = \(isNumbered ? version : 0)")
    let ledger = try Ledger(path: path)
    #expect(try ledger.liveJobs().map(\.runID) == ["r"])
    #expect(try ledger.intended(run: "r").first?.delivery?.target == "images/a.jpg")
    let output = try ledger.output(job: "j", target: "images/b.jpg")
    #expect(output == LedgerOutput(target: "images/b.jpg", bytes: 7, sha256: "cd", origin: nil, identity: nil))
    #expect(try ledger.check(bytes: 1) { false })
  }

  @Test(
    "a ledger without a version whose tables are not exactly those of one is refused, and left as it is",
    arguments: ["CREATE TABLE more (id INTEGER)", "DROP INDEX jobs_by_name", "ALTER TABLE jobs ADD COLUMN more TEXT"])
  func otherTables(statement: String) throws {
    try makeLedger()
    try change("PRAGMA user_version = 0", statement)
    let before = try bytes
    #expect(throws: SQLiteError.self) { try Ledger(path: path) }
    #expect(try bytes == before)
  }

  @Test(
    "what is no ledger is an error, never overwritten",
    arguments: [
      Data("hello".utf8), Data(repeating: 0xff, count: 100), Data(repeating: 0x41, count: 20_000),
      Data("SQLite format 3\u{0}".utf8) + Data(repeating: 0xee, count: 8176),
    ])
  func garbage(content: Data) throws {
    try content.write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: SQLiteError.self) { try Ledger(path: path) }
    #expect(error?.description.contains(path) == true)
    #expect(try bytes == content)
  }

  @Test("a ledger whose schema page was overwritten is an error")
  func damaged() throws {
    try makeLedger()
    var damaged = try bytes
    damaged.replaceSubrange(100..<2000, with: Data(repeating: 0x55, count: 1900))
    try damaged.write(to: URL(fileURLWithPath: path))
    #expect(throws: SQLiteError.self) {
      let ledger = try Ledger(path: path)
      try ledger.commit([.accept(LedgerJob(runID: "s", name: "k", details: ""))])
    }
    #expect(try bytes == damaged)
  }

  @Test("another program's database is an error and left as it is")
  func foreignDatabase() throws {
    try change("CREATE TABLE jobs (id INTEGER)", "INSERT INTO jobs VALUES (1)")
    let before = try bytes
    #expect(throws: SQLiteError.self) { try Ledger(path: path) }
    #expect(try bytes == before)
  }

  @Test("a folder, and a file in a folder that is not there, are errors that name the path")
  func cannotOpen() throws {
    for path in [folder.path, folder.file("missing/ledger.sqlite")] {
      let error = #expect(throws: SQLiteError.self) { try Ledger(path: path) }
      #expect(error?.description.contains(path) == true)
    }
  }
}
