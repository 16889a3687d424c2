import Database
import Model

/// The cache's database: the files that requests returned, and the order of their use. Used by one thread at a time.
///
/// `commit` commits changes. When the process dies before that, they are rolled back, and `isCommitted` is false in the
/// next process. Methods throw `SQLiteError`. After an error in a change, all changes since the last commit may have
/// been rolled back, see `lost`.
final class CacheIndex {
  private let database: Database

  /// The id of the system's boot for which the index and the files are consistent.
  private let boot: String

  /// Whether there are uncommitted changes.
  private var hasChanged = false

  /// The files that were added since the last commit.
  private var uncommitted: Set<String> = []

  /// Files whose addition was rolled back. Those that the index does not contain must be removed from the folder.
  private(set) var lost: Set<String> = []

  /// Whether all changes are committed, and the index contains every file of the folder.
  private(set) var isCommitted: Bool

  /// The total size of all files, without those that are kept for one run only.
  private(set) var bytes: Int

  /// The number of uses so far, which orders them.
  private var clock: Int

  /// Whether there may be answers for one run only.
  private var mayHaveOnce = true

  /// Opens the index, and creates it if it is missing.
  /// - Parameters:
  ///   - path: The database file. SQLite adds other files beside it.
  ///   - boot: The id of the current boot of the system.
  init(path: String, boot: String) throws {
    self.boot = boot
    database = try Database(path: path, durability: .process)
    // Digests are random: with a smaller cache nearly every addition writes pages that the next one needs again, and with a
    // shorter write-ahead log (here 16 MiB) the same pages are copied into the file again and again.
    let page = try database.first("PRAGMA page_size") { $0.integer(0) } ?? Database.pageBytes
    try database.execute("PRAGMA cache_size = -4096; PRAGMA wal_autocheckpoint = \((16 << 20) / page)")
    try CacheSchema.prepare(database)
    isCommitted = try database.first("SELECT id FROM boot") { $0.text(0) } == boot
    (bytes, clock) = (0, 0)
    try count()
    mayHaveOnce = try hasOnce()
  }

  private func count() throws {
    let query = "SELECT coalesce(sum(bytes * (1 - exempt)), 0), coalesce(max(used), 0) FROM objects"
    let totals = try database.first(query) { ($0.integer(0), $0.integer(1)) }
    (bytes, clock) = totals ?? (0, 0)
  }

  func contains(_ sha256: String) throws -> Bool {
    try database.first("SELECT 1 FROM objects WHERE sha256 = ?", [.text(sha256)]) { _ in true } ?? false
  }

  /// The least recently used of the files that count towards the limit; nil when there is none.
  func leastRecentlyUsed() throws -> String? {
    try database.first("SELECT sha256 FROM objects WHERE exempt = 0 ORDER BY used LIMIT 1") { $0.text(0) ?? "" }
  }

  // MARK: Sources

  /// The source that a request returned; nil when it is not in the index.
  func source(_ key: CacheKey) throws -> CachedSource? {
    try database.first(Self.getSource, [.text(key.text)]) { CachedSource($0) }
  }

  private static let getSource =
    "SELECT \(CachedSource.columns.names), bytes FROM sources JOIN objects ON id = object WHERE key = ?"

  /// Records the source that a request returned, and the use of its file.
  func put(_ source: CachedSource, of key: CacheKey) throws {
    try change {
      if try !use(source.sha256) {
        try database.run(
          "INSERT INTO objects (sha256, bytes, used, exempt) VALUES (?, ?, ?, 0)",
          [.text(source.sha256), .integer(source.bytes), .integer(clock)])
        uncommitted.insert(source.sha256)
        bytes += source.bytes
      }
      try putSource(source, of: key)
    }
  }

  /// Records that a source was confirmed, and the use of its file, if the index contains the file and has no other source of the
  /// request: one that was downloaded meanwhile is newer.
  func confirm(_ source: CachedSource, of key: CacheKey) throws {
    try change {
      if try use(source.sha256) { try putSource(source, of: key, by: Self.confirmSource) }
    }
  }

  /// Removes the source of a request. The file stays.
  func removeSource(_ key: CacheKey) throws {
    try change {
      let former = try onceObject(key)
      try database.run("DELETE FROM sources WHERE key = ?", [.text(key.text)])
      if let former { try countObject(former) }
    }
  }

  /// Removes a file, and all requests that returned it.
  func remove(_ sha256: String) throws {
    let size = try database.first("SELECT bytes * (1 - exempt) FROM objects WHERE sha256 = ?", [.text(sha256)]) {
      $0.integer(0)
    }
    guard let size else { return }
    try change {
      try database.run("DELETE FROM objects WHERE sha256 = ?", [.text(sha256)])
      bytes -= size
    }
  }

  /// - Returns: Whether the index contains the file.
  private func use(_ sha256: String) throws -> Bool {
    clock += 1
    try database.run("UPDATE objects SET used = ? WHERE sha256 = ?", [.integer(clock), .text(sha256)])
    return database.changes > 0
  }

  private func putSource(_ source: CachedSource, of key: CacheKey, by statement: String = putSource) throws {
    let former = try onceObject(key)
    try database.run(statement, [.text(key.text)] + source.values)
    if source.asked.isOnce {
      mayHaveOnce = true
      try countObject(source.sha256)
    }
    if let former, former != source.sha256 || !source.asked.isOnce { try countObject(former) }
  }

  /// The file that a request returned for one run only; nil when there is none.
  private func onceObject(_ key: CacheKey) throws -> String? {
    guard mayHaveOnce else { return nil }
    let query = "SELECT sha256 FROM sources JOIN objects ON id = object WHERE key = ? AND once IS NOT NULL"
    return try database.first(query, [.text(key.text)]) { $0.text(0) ?? "" }
  }

  /// Updates the total size for a file, which does not count when an answer for one run only returned it.
  private func countObject(_ sha256: String) throws {
    let query = """
      SELECT bytes, exempt, EXISTS (SELECT 1 FROM sources WHERE object = id AND once IS NOT NULL)
      FROM objects WHERE sha256 = ?
      """
    let found = try database.first(query, [.text(sha256)]) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    guard let (size, before, now) = found, before != now else { return }
    try database.run("UPDATE objects SET exempt = ? WHERE sha256 = ?", [.integer(now), .text(sha256)])
    bytes += (before - now) * size
  }

  /// The row keeps its place: requests that are repeated in their order change neighbouring rows.
  private static let putSource = """
    INSERT INTO sources (key, object, \(details.joined(separator: ", ")))
    VALUES (?, (SELECT id FROM objects WHERE sha256 = ?), \(details.map { _ in "?" }.joined(separator: ", ")))
    ON CONFLICT (key) DO UPDATE
    SET \((["object"] + details).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
    """

  private static let confirmSource = putSource + " WHERE object = excluded.object"

  /// The columns of a source but that of its digest, which is the first.
  private static let details = CachedSource.columns.list.dropFirst()

  /// Whether there are answers for one run only.
  func hasOnce() throws -> Bool {
    try database.first("SELECT 1 FROM sources WHERE once IS NOT NULL LIMIT 1") { _ in true } ?? false
  }

  /// Removes answers for one run only. Files that other requests returned too count towards the limit from then on.
  /// - Parameter isOver: Whether a run has ended.
  /// - Returns: The files that no other request returned. The caller must remove them.
  func removeOnce(_ isOver: (_ runID: String) -> Bool) throws -> [String] {
    var over: [(key: String, sha256: String)] = []
    try database.run("SELECT key, sha256, once FROM sources JOIN objects ON id = object WHERE once IS NOT NULL") {
      row in
      if isOver(row.text(2) ?? "") { over.append((row.text(0) ?? "", row.text(1) ?? "")) }
    }
    guard !over.isEmpty else { return [] }
    try change {
      for source in over { try database.run("DELETE FROM sources WHERE key = ?", [.text(source.key)]) }
      for sha256 in Set(over.map(\.sha256)) { try countObject(sha256) }
    }
    return try Set(over.map(\.sha256)).filter { sha256 in
      let query = "SELECT 1 FROM sources JOIN objects ON id = object WHERE sha256 = ?"
      return try database.first(query, [.text(sha256)]) { _ in true } == nil
    }
  }

  // MARK: Commits

  func commit() throws {
    guard hasChanged else { return }
    try attempt {
      if lost.isEmpty { try setBoot(boot) }
      try database.commit()
    }
    (hasChanged, isCommitted) = (false, lost.isEmpty)
    uncommitted.removeAll()
  }

  /// Records that the lost files were removed from the folder.
  func removedLost() { lost.removeAll() }

  private func change(_ body: () throws -> Void) throws {
    if isCommitted {
      try setBoot("")
      isCommitted = false
    }
    if !hasChanged {
      try database.begin()
      hasChanged = true
    }
    try attempt(body)
  }

  /// Runs a part of a transaction. When it fails, the whole transaction is rolled back.
  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      database.rollBack()
      hasChanged = false
      lost.formUnion(uncommitted)
      uncommitted.removeAll()
      try count()
      throw error
    }
  }

  private func setBoot(_ id: String) throws {
    try database.run("INSERT OR REPLACE INTO boot (rowid, id) VALUES (1, ?)", [.text(id)])
  }
}
