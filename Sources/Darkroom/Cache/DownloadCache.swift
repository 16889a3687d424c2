import Foundation
import Ledger
import Synchronization
import Transfer

/// Sources that were downloaded before, by their content: files named after their SHA-256, and a database that says which
/// request gave which of them. The least recently used goes first when there is no room.
///
/// Nothing of it is synced, and nobody depends on it: what it hands out is to be checked against its digest, and a cache
/// that makes no sense is begun anew. A file is in the database before it lies under its name, and leaves its name before
/// it leaves the database, so that the limit holds whenever the program is killed.
final class DownloadCache: Sendable {
  private struct State {
    let database: Database
    var bytes: Int
    var clock: Int
    var hasFailed = false
  }

  private let folder: String
  private let limit: Int
  private let state: Mutex<State>

  /// Opens the cache, creates it when missing, and begins it anew when it makes no sense.
  /// - Parameters:
  ///   - folder: Where it lies; nothing else may.
  ///   - limit: Bytes of sources at most. Those beyond it are removed.
  /// - Throws: `SystemError`, `SQLiteError` when there cannot be one.
  init(folder: String, limit: Int) throws {
    self.folder = folder
    self.limit = limit
    try Folder.create(folder, mode: 0o700)
    let opened: State
    do {
      opened = try Self.open(folder)
    } catch let error as SQLiteError where !error.isOutOfSpace {
      try FileManager.default.removeItem(atPath: folder)
      try Folder.create(folder, mode: 0o700)
      opened = try Self.open(folder)
    }
    state = Mutex(opened)
    try state.withLock { state in
      try sweepAfterReboot(state.database)
      try makeRoom(&state)
    }
  }

  private static func open(_ folder: String) throws -> State {
    let database = try Database(path: folder + "/index.sqlite", durability: .process)
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS objects (
        sha256 TEXT PRIMARY KEY,
        bytes INTEGER NOT NULL,
        used INTEGER NOT NULL         -- the larger, the later
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS objects_by_use ON objects (used, sha256, bytes);
      CREATE TABLE IF NOT EXISTS sources (
        key TEXT PRIMARY KEY,
        sha256 TEXT NOT NULL REFERENCES objects ON DELETE CASCADE,
        final_url TEXT NOT NULL,
        etag TEXT,
        last_modified TEXT,
        answered TEXT,                -- null when there are no validators
        run TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS sources_by_object ON sources (sha256);
      CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL) STRICT;
      """)
    let totals = try database.first("SELECT coalesce(sum(bytes), 0), coalesce(max(used), 0) FROM objects") {
      ($0.integer(0), $0.integer(1))
    }
    return State(database: database, bytes: totals?.0 ?? 0, clock: totals?.1 ?? 0)
  }

  /// What a request gave when it was last made; nil when that is not known.
  func source(_ key: CacheKey) -> CachedSource? {
    quietly { state in
      try state.database.first(
        """
        SELECT sha256, bytes, final_url, etag, last_modified, answered, run
        FROM sources JOIN objects USING (sha256) WHERE key = ?
        """, [.text(key.text)]
      ) { row in
        CachedSource(
          sha256: row.text(0) ?? "", bytes: row.integer(1), finalURL: row.text(2) ?? "",
          validators: row.text(5).map { Validators(etag: row.text(3), lastModified: row.text(4), answered: $0) },
          runID: row.text(6) ?? "")
      }
    } ?? nil
  }

  /// Links a source to a path at which there is nothing, or copies it where it cannot be linked. Its bytes are to be
  /// checked: `drop` is for those that are not what they should be.
  /// - Returns: Whether it was there.
  func take(_ source: CachedSource, to path: String) -> Bool {
    let object = object(source.sha256)
    if link(object, path) == 0 { return true }
    do {
      guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP].contains(errno) else { return false }
      try OpenFile(reading: object).copy(to: OpenFile(creating: path))
      return true
    } catch {
      try? Folder.removeFile(path)
      return false
    }
  }

  /// Keeps a source that was downloaded: its file is linked, or copied where it cannot be.
  func keep(_ source: CachedSource, of key: CacheKey, from path: String) {
    quietly { state in
      guard source.bytes <= limit else { return try Self.forget(key, state.database) }
      let isKnown = try Self.knows(source.sha256, state.database)
      try Self.put(source, of: key, &state)
      if !isKnown {
        state.bytes += source.bytes
        do {
          try add(path, as: object(source.sha256))
        } catch {
          try remove(source.sha256, &state)
          throw error
        }
      }
      try makeRoom(&state)
    }
  }

  /// Takes down that a source is what it was.
  func confirm(_ source: CachedSource, of key: CacheKey) { quietly { try Self.put(source, of: key, &$0) } }

  /// Removes bytes that are not what they should be, or are not there.
  func drop(_ sha256: String) { quietly { try remove(sha256, &$0) } }

  /// Removes everything.
  /// - Returns: Whether there was something.
  func clear() -> Bool {
    quietly { state in
      let had = state.bytes > 0
      while let oldest = try Self.oldest(state.database) { try remove(oldest, &state) }
      return had
    } ?? false
  }

  /// Does something within the lock. A cache that fails is no reason to fail: it knows nothing more until the next start,
  /// unless there was only no room.
  @discardableResult
  private func quietly<T: Sendable>(_ body: @Sendable (inout State) throws -> T) -> T? {
    state.withLock { state in
      guard !state.hasFailed else { return nil }
      do {
        return try body(&state)
      } catch {
        state.hasFailed = (error as? any OutOfSpaceError)?.isOutOfSpace != true
        return nil
      }
    }
  }

  // MARK: Within the lock

  private static func knows(_ sha256: String, _ database: Database) throws -> Bool {
    try database.first("SELECT 1 FROM objects WHERE sha256 = ?", [.text(sha256)]) { _ in true } ?? false
  }

  private static func put(_ source: CachedSource, of key: CacheKey, _ state: inout State) throws {
    state.clock += 1
    let used = state.clock
    let database = state.database
    try database.transaction {
      try database.run(
        "INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = excluded.used",
        [.text(source.sha256), .integer(source.bytes), .integer(used)])
      try database.run(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
          .text(key.text), .text(source.sha256), .text(source.finalURL), .optional(source.validators?.etag),
          .optional(source.validators?.lastModified), .optional(source.validators?.answered), .text(source.runID),
        ])
    }
  }

  private static func forget(_ key: CacheKey, _ database: Database) throws {
    try database.run("DELETE FROM sources WHERE key = ?", [.text(key.text)])
  }

  private func makeRoom(_ state: inout State) throws {
    while state.bytes > limit, let oldest = try Self.oldest(state.database) { try remove(oldest, &state) }
  }

  private static func oldest(_ database: Database) throws -> String? {
    try database.first("SELECT sha256 FROM objects ORDER BY used LIMIT 1") { $0.text(0) ?? "" }
  }

  private func remove(_ sha256: String, _ state: inout State) throws {
    try Folder.removeFile(object(sha256))
    let bytes = try state.database.first("SELECT bytes FROM objects WHERE sha256 = ?", [.text(sha256)]) {
      $0.integer(0)
    }
    try state.database.run("DELETE FROM objects WHERE sha256 = ?", [.text(sha256)])
    state.bytes -= bytes ?? 0
  }

  /// After a power cut there may be files that the database does not know.
  private func sweepAfterReboot(_ database: Database) throws {
    let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
    guard try database.first("SELECT id FROM boot", row: { $0.text(0) }) != boot else { return }
    for part in try Folder.names(in: folder).compactMap(\.text) where part.utf8.count == 2 {
      for name in try Folder.names(in: folder + "/" + part).compactMap(\.text) {
        if try !Self.knows(part + name, database) { try Folder.removeFile(object(part + name)) }
      }
    }
    try database.execute("DELETE FROM boot")
    try database.run("INSERT INTO boot VALUES (?)", [.text(boot)])
  }

  // MARK: Files

  private func object(_ sha256: String) -> String { "\(folder)/\(sha256.prefix(2))/\(sha256.dropFirst(2))" }

  private func add(_ path: String, as object: String) throws {
    if link(path, object) == 0 { return }
    if errno == ENOENT {
      // Only this one: an outbox that somebody has moved away is not to be made again.
      mkdir(Folder.parent(of: object), 0o700)
      if link(path, object) == 0 { return }
    }
    let part = "\(folder)/part"
    try Folder.removeFile(part)
    try OpenFile(reading: path).copy(to: OpenFile(creating: part, mode: 0o600))
    try Folder.rename(part, to: object)
  }
}
