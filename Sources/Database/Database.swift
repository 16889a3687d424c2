import CSQLite
import Glibc

/// A connection to an SQLite file, with its prepared statements. Not thread-safe: it has one owner at a time.
package final class Database {
  /// What a committed change survives.
  package enum Durability {
    /// A committed change survives a power cut (`journal_mode=TRUNCATE`, `synchronous=EXTRA`).
    case powerCut
    /// A committed change survives the death of the process; a power cut may damage the file (`journal_mode=WAL`, nothing is
    /// synced).
    case process
    /// Nothing is synced: for a file that can be rebuilt from a durable one.
    case none

    fileprivate var pragmas: String {
      switch self {
      case .powerCut: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = EXTRA"
      case .process: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"
      case .none: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
      }
    }
  }

  /// The version of the SQLite library.
  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  package let path: String
  let connection: OpaquePointer
  private var statements: [StatementText: Statement] = [:]

  /// The size of a page of a new file. Batches of hundreds of rows write half as many pages as with SQLite's 4096 bytes.
  package static let pageBytes = 8192

  /// The size of a page of a database in memory: the index of a small job, of which thousands may wait, each with some ten tables.
  static let memoryPageBytes = 2048

  /// The path of a database in memory.
  package static let inMemory = ":memory:"

  /// Opens the file; its path must not contain a symbolic link. Creates a missing file for its owner alone, as SQLite does with
  /// its own files beside it.
  /// - Parameters:
  ///   - isCreated: Whether it is created when missing. Default: true.
  ///   - examine: Called before anything changes; if it throws, the file stays unchanged.
  /// - Throws: `SQLiteError` when the file cannot be opened or is not a database; the error of `examine`.
  package init(
    path: String, durability: Durability, isCreated: Bool = true, examine: (Database) throws -> Void = { _ in }
  ) throws {
    self.path = path
    if path != Self.inMemory, isCreated { try Self.create(path) }
    connection = try Self.connect(path, SQLITE_OPEN_READWRITE | (isCreated ? SQLITE_OPEN_CREATE : 0))
    try execute("PRAGMA page_size = \(path == Self.inMemory ? Self.memoryPageBytes : Self.pageBytes)")
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    try examine(self)
    try execute(durability.pragmas)
    try execute("PRAGMA foreign_keys = ON")
  }

  /// Creates the file unless it exists. SQLite would let others read it, and does not tell why it cannot create it.
  private static func create(_ path: String) throws(SQLiteError) {
    var created: Int32
    repeat { created = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) } while created < 0 && errno == EINTR
    if created >= 0 {
      close(created)
    } else if errno != EEXIST {
      throw SQLiteError(
        code: SQLITE_CANTOPEN, message: "unable to create database file", path: path, systemError: errno)
    }
  }

  /// Opens an existing file for reading, without writing to it or beside it. Waits half a second for a process that has locked
  /// it, which seldom releases it.
  /// - Throws: `SQLiteError` when it cannot be opened.
  package init(reading path: String) throws {
    self.path = path
    connection = try Self.connect(path, SQLITE_OPEN_READONLY)
    sqlite3_busy_timeout(connection, 500)
  }

  /// Each connection is used by one thread, and they share nothing.
  private static let isConfigured = csqlite_configure() == SQLITE_OK

  private static func connect(_ path: String, _ access: Int32) throws -> OpaquePointer {
    _ = isConfigured
    var opened: OpaquePointer?
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened, code == SQLITE_OK else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      let number = opened.map { sqlite3_system_errno($0) } ?? ENOMEM
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: message, path: path, systemError: number)
    }
    sqlite3_busy_timeout(opened, 5000)
    let registered = RowDigest.register(on: opened)
    guard registered == SQLITE_OK else {
      sqlite3_close_v2(opened)
      throw SQLiteError(code: registered, message: "out of memory", path: path)
    }
    return opened
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(connection)
  }

  /// Runs statements without values and ignores their rows.
  package func execute(_ sql: String) throws {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Runs one statement with values for its `?`, and calls `row` for each row that it yields.
  ///
  /// The statement is prepared once per text and kept.
  package func run(_ sql: String, _ values: [SQLiteValue] = [], row: (Statement) throws -> Void = { _ in }) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() { try row(statement) }
  }

  /// The rows of a statement, each converted to a value.
  package func all<T>(_ sql: String, _ values: [SQLiteValue] = [], row: (Statement) throws -> T) throws -> [T] {
    var rows: [T] = []
    try run(sql, values) { rows.append(try row($0)) }
    return rows
  }

  /// The first row of a statement, converted to a value; nil without rows.
  package func first<T>(_ sql: String, _ values: [SQLiteValue] = [], row: (Statement) throws -> T) throws -> T? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? row(statement) : nil
  }

  /// The number of rows that the last changing statement has changed.
  package var changes: Int { Int(sqlite3_changes(connection)) }

  /// Runs `body` as one transaction: all its changes are committed, or none when it throws.
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    try begin()
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins a transaction, which includes all changes until `commit` or `rollBack`.
  package func begin() throws { try run("BEGIN IMMEDIATE") }

  package func commit() throws { try run("COMMIT") }

  /// Undoes the changes since `begin`; does nothing when SQLite has already undone them.
  package func rollBack() { try? execute("ROLLBACK") }

  func failure(_ code: Int32) -> SQLiteError {
    if code & 0xff == SQLITE_CORRUPT, let number = lastErrno {
      return SQLiteError(
        code: SQLITE_IOERR | 1 << 8, message: String(cString: sqlite3_errstr(SQLITE_IOERR)), path: path,
        systemError: number)
    }
    let number = sqlite3_system_errno(connection)
    // SQLite does not say why COMMIT has failed.
    let isUnknown = number == 0 && code & 0xff == SQLITE_IOERR
    return SQLiteError(
      code: code, message: String(cString: sqlite3_errmsg(connection)), path: path,
      systemError: isUnknown ? lastErrno ?? 0 : number)
  }

  /// `errno` of the last call that failed for the file or its journal; nil without one since the file was opened. SQLite reports
  /// some failed reads as damage (`SQLITE_IOERR_CORRUPTFS`): EIO, ENXIO and ERANGE.
  private var lastErrno: Int32? {
    var number: Int32 = 0
    let answer = sqlite3_file_control(connection, nil, SQLITE_FCNTL_LAST_ERRNO, &number)
    if answer == SQLITE_OK, number != 0 { return number }
    var journal: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(connection, nil, SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK,
      journal?.pointee.pMethods?.pointee.xFileControl?(journal, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK
    else { return nil }
    return number == 0 ? nil : number
  }

  private func prepared(_ sql: String) throws -> Statement {
    let text = StatementText(sql: sql)
    if let statement = statements[text] { return statement }
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard let handle, code == SQLITE_OK else { throw failure(code) }
    let statement = Statement(handle, database: self)
    statements[text] = statement
    return statement
  }
}

/// A statement's text as a key. Only its length is hashed: the few texts of a connection mostly differ in it, and hashing
/// hundreds of bytes takes longer than the rest of the search.
private struct StatementText: Hashable {
  let sql: String

  func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
