import Foundation
import TestSupport
import Testing

@testable import Database

@Suite struct DatabaseTests {
  let folder: TemporaryFolder
  var path: String { folder.file("file.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  @Test("a database is its owner's alone", arguments: [Database.Durability.powerCut, .process, .none])
  func mode(durability: Database.Durability) throws {
    let database = try Database(path: path, durability: durability)
    try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains("file.sqlite"))
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test("a record is read as it was written, nil as null")
  func records() throws {
    let database = try Database(path: path, durability: .none)
    try database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, size INTEGER) STRICT")
    let notes = [
      Note(id: 1, text: "ü\u{0}x", size: nil), Note(id: 2, text: nil, size: .min), Note(id: 3, text: "", size: 0),
      Note(id: 4, text: String(repeating: "long", count: 10_000), size: .max),
    ]
    for note in notes {
      try database.run("INSERT INTO notes (\(Note.columns.names)) VALUES (\(Note.columns.placeholders))", note.values)
    }
    #expect(try database.records(Note.select("FROM notes ORDER BY id")) == notes)
    #expect(try database.record(Note.select("FROM notes WHERE id = ?"), [.integer(2)]) == notes[1])
    #expect(try database.record(Note.select("FROM notes WHERE id = 5")) as Note? == nil)
  }

  @Test("a statement keeps its texts while its rows are read, and keeps none for its next use")
  func texts() throws {
    let database = try Database(path: path, durability: .none)
    try database.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, a TEXT, b TEXT) STRICT")
    let texts = [0, 1, 300, 0, 20_000, 2, 257, 0].map { String(repeating: "é", count: $0) }
    for (id, text) in texts.enumerated() {
      try database.run(
        "INSERT INTO texts VALUES (?, ?, ?)", [.integer(id), .text(text), id % 2 == 0 ? .null : .text("b\(id)")])
    }
    for bound in texts {
      var read: [String] = []
      try database.run("SELECT ?, id FROM texts WHERE a >= ? ORDER BY id", [.text(bound), .text("")]) { row in
        let other = texts[row.integer(1)]
        let found = try database.first("SELECT a FROM texts WHERE a = ?", [.text(other)]) { $0.text(0) ?? "none" }
        #expect(found == other)
        read.append(row.text(0) ?? "none")
      }
      #expect(read == texts.map { _ in bound })
      #expect(try database.all("SELECT ?, id FROM texts WHERE a >= ? ORDER BY id", [.text(bound)]) { $0.text(0) } == [])
    }
    #expect(
      try database.all("SELECT b FROM texts ORDER BY id") { $0.text(0) } == [
        nil, "b1", nil, "b3", nil, "b5", nil, "b7",
      ])
  }

  @Test("a transaction that throws changes nothing")
  func transaction() throws {
    let database = try Database(path: path, durability: .powerCut)
    try database.execute("CREATE TABLE t (a)")
    #expect(throws: CancellationError.self) {
      try database.transaction {
        try database.execute("INSERT INTO t VALUES (1)")
        throw CancellationError()
      }
    }
    #expect(try database.first("SELECT count(*) FROM t") { $0.integer(0) } == 0)
  }

  @Test("migrations begin where the database stands, and a script that fails leaves its version", arguments: 0...2)
  func migrations(version: Int) throws {
    let scripts: Migrations = ["CREATE TABLE a (x)", "CREATE TABLE b (x)"]
    let database = try Database(path: path, durability: .powerCut)
    for script in scripts.scripts[..<version] { try database.execute(script) }
    try database.execute("PRAGMA user_version = \(version)")
    try scripts.apply(to: database)
    #expect(try Migrations.version(of: database) == 2)
    try database.execute("INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    let broken: Migrations = ["", "", "CREATE TABLE c (x); CREATE TABLE c (x)"]
    #expect(throws: SQLiteError.self) { try broken.apply(to: database) }
    #expect(try Migrations.version(of: database) == 2)
    #expect(throws: SQLiteError.self) { try database.execute("SELECT * FROM c") }
  }

  @Test("a version is known from 0 to the newest", arguments: [(-1, false), (0, true), (2, true), (3, false)])
  func knownVersions(version: Int, isKnown: Bool) {
    let scripts: Migrations = ["", ""]
    #expect(scripts.isKnown(version) == isKnown)
  }

  @Test(
    "a full disk is told apart, also when a sync or the creation of a file finds out, and so is a quota",
    arguments: [
      (Int32(13), Int32(0), true), (1034, ENOSPC, true), (1034, EDQUOT, true), (778, EDQUOT, true), (778, EIO, false),
      (778, 0, false), (14, ENOSPC, true), (14, EDQUOT, true), (14, ENOENT, false), (11, ENOSPC, false),
      (1, ENOSPC, false),
    ])
  func outOfSpace(code: Int32, number: Int32, isOutOfSpace: Bool) {
    #expect(SQLiteError(code: code, message: "", path: "", systemError: number).isOutOfSpace == isOutOfSpace)
  }

  @Test(arguments: [(Int32(13), false), (266, false), (778, false), (1034, true), (1290, true), (1546, true)])
  func `a commit of which only the sync or the end of the journal failed may have happened`(code: Int32, mayHave: Bool)
  {
    #expect(SQLiteError(code: code, message: "", path: "", systemError: ENOSPC).mayHaveCommitted == mayHave)
  }

  @Test("an error has the number of the system call that failed")
  func systemError() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: SQLiteError.self) {
      try Database(path: folder.file("nowhere/x"), durability: .none, isCreated: false)
    }
    #expect(error?.systemError == ENOENT && error?.isFailureOfFile == true)
    #expect(error?.path == folder.file("nowhere/x"))
    #expect(try folder.names().isEmpty)
  }
}

private struct Note: DatabaseRecord, Equatable {
  static let columns: Columns = ["id", "text", "size"]

  let id: Int
  let text: String?
  let size: Int?

  init(id: Int, text: String?, size: Int?) { (self.id, self.text, self.size) = (id, text, size) }

  init(_ row: Statement) { self.init(id: row.integer(0), text: row.text(1), size: row.optionalInteger(2)) }

  var values: [SQLiteValue] { [.integer(id), .optional(text), .optional(size)] }
}
