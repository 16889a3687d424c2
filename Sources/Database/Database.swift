import CSQLite
import Glibc

/// One connection to one SQLite file, with its prepared statements. It is not thread-safe: it has one owner at a time.
package final class Database {
  /// How much a commit survives.
  package enum Durability {
    /// A committed change survives a power cut (`journal_mode=TRUNCATE`, `synchronous=EXTRA`).
    case powerCut
    /// A committed change survives the death of the process, and the file may be damaged by a power cut
    /// (`journal_mode=WAL`, nothing is synced).
    case process
    /// Nothing is synced: for a file that is made again from something durable.
    case none

    fileprivate var pragmas: String {
      switch self {
      case .powerCut: "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = EXTRA"
      case .process: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"
      case .none: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
      }
    }
  }

  package let path: String
  let connection: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// The path of a database that lies in memory.
  package static let inMemory = ":memory:"

  /// Opens the file, on whose path there must be no symbolic link. Creates it when missing: for its owner alone, as SQLite's
  /// own files beside it then are.
  /// - Parameters:
  ///   - isCreated: Whether it is created when missing. Default: true.
  ///   - examine: Called before anything is changed; what it throws leaves the file as it was.
  /// - Throws: `SQLiteError` when it cannot be opened or is not a database; what `examine` throws.
  package init(
    path: String, durability: Durability, isCreated: Bool = true, examine: (Database) throws -> Void = { _ in }
  ) throws {
    self.path = path
    if path != Self.inMemory, isCreated {
      var created: Int32
      repeat {
        created = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // SQLite would create it for others, too.
      } while created < 0 && errno == EINTR
      if created >= 0 { close(created) }
    }
    connection = try Self.connect(path, SQLITE_OPEN_READWRITE | (isCreated ? SQLITE_OPEN_CREATE : 0))
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    try examine(self)
    try execute(durability.pragmas)
    try execute("PRAGMA foreign_keys = ON")
  }

  /// Opens a file that is there to read it, and writes neither to it nor beside it. One that a process has locked, which
  /// seldom gives it back, is waited for half a second.
  /// - Throws: `SQLiteError` when it cannot be opened.
  package init(reading path: String) throws {
    self.path = path
    connection = try Self.connect(path, SQLITE_OPEN_READONLY)
    sqlite3_busy_timeout(connection, 500)
  }

  /// Connections are used by one thread each, and share nothing.
  private static let isConfigured = csqlite_disable_memory_status() == SQLITE_OK

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

  /// Runs statements that take no values and whose rows do not matter.
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

  /// The rows that a statement yields, each made into a value.
  package func all<T>(_ sql: String, _ values: [SQLiteValue] = [], row: (Statement) throws -> T) throws -> [T] {
    var rows: [T] = []
    try run(sql, values) { rows.append(try row($0)) }
    return rows
  }

  /// The first row that a statement yields, made into a value; nil when it yields none.
  package func first<T>(_ sql: String, _ values: [SQLiteValue] = [], row: (Statement) throws -> T) throws -> T? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? row(statement) : nil
  }

  /// How many rows the last statement that changes some has changed.
  package var changes: Int { Int(sqlite3_changes(connection)) }

  /// Runs `body` as one transaction: everything that it changes is committed, or, when it throws, nothing is.
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

  /// Begins a transaction, which takes in all changes until `commit` or `rollBack`.
  package func begin() throws { try run("BEGIN IMMEDIATE") }

  package func commit() throws { try run("COMMIT") }

  /// Undoes what was changed since `begin`; does nothing when SQLite has done so already.
  package func rollBack() { try? execute("ROLLBACK") }

  func failure(_ code: Int32) -> SQLiteError {
    if code & 0xff == SQLITE_CORRUPT, let number = readError {
      return SQLiteError(
        code: SQLITE_IOERR | 1 << 8, message: String(cString: sqlite3_errstr(SQLITE_IOERR)), path: path,
        systemError: number)
    }
    return SQLiteError(
      code: code, message: String(cString: sqlite3_errmsg(connection)), path: path,
      systemError: sqlite3_system_errno(connection))
  }

  /// `errno` of a read of the file, or of its journal, that has failed; nil when none has since the file was opened. Some
  /// SQLite itself reports as damage (`SQLITE_IOERR_CORRUPTFS`): EIO, ENXIO and ERANGE.
  private var readError: Int32? {
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
    if let statement = statements[sql] { return statement }
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard let handle, code == SQLITE_OK else { throw failure(code) }
    let statement = Statement(handle, database: self)
    statements[sql] = statement
    return statement
  }
}
