import Ledger
import Transfer

/// The cache's database: which request gave which file, and which file was used when. It has one owner at a time.
///
/// Changes are committed by `settle`: the death of the process undoes those since, and `isSettled` tells the next one.
/// Methods throw `SQLiteError`; those that change something may have undone all changes since `settle` then.
final class CacheIndex {
  /// Of the tables; an index of another version is begun anew.
  private static let version = 1

  private let database: Database

  /// The start of the system within which the index and the files belong together.
  private let boot: String

  /// Whether there are changes that are not committed.
  private var hasChanged = false

  /// Whether changes were undone, so that files may lie in the folder that the index does not know.
  private(set) var hasLost = false

  /// Whether everything is committed, and the index knows every file.
  private(set) var isSettled: Bool

  /// What the files take together.
  private(set) var bytes: Int

  /// Counts uses.
  private var clock: Int

  /// Opens the index, creates it when missing.
  /// - Parameters:
  ///   - folder: Where it lies, as `index.sqlite` and what SQLite puts beside it.
  ///   - boot: Names the present start of the system.
  init(in folder: String, boot: String) throws {
    self.boot = boot
    database = try Database(path: folder + "/index.sqlite", durability: .process)
    if try database.first("PRAGMA user_version", row: { $0.integer(0) }) != Self.version {
      try database.execute("DROP TABLE IF EXISTS sources; DROP TABLE IF EXISTS objects; DROP TABLE IF EXISTS boot")
    }
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS objects (
        sha256 TEXT PRIMARY KEY,
        bytes INTEGER NOT NULL,
        used INTEGER NOT NULL         -- the larger, the later
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS objects_by_use ON objects (used);
      CREATE TABLE IF NOT EXISTS sources (
        key TEXT PRIMARY KEY,
        sha256 TEXT NOT NULL REFERENCES objects ON DELETE CASCADE,
        final_url TEXT NOT NULL,      -- as reports show it
        etag TEXT,
        last_modified TEXT,
        answered TEXT,                -- null when there are no validators
        run TEXT NOT NULL,            -- of who asked last
        position INTEGER NOT NULL,
        status INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS sources_by_object ON sources (sha256);
      CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL) STRICT;  -- the last in which it was settled; else empty
      PRAGMA user_version = \(Self.version);
      """)
    isSettled = try database.first("SELECT id FROM boot") { $0.text(0) } == boot
    (bytes, clock) = (0, 0)
    try count()
  }

  private func count() throws {
    let totals = try database.first("SELECT coalesce(sum(bytes), 0), coalesce(max(used), 0) FROM objects") {
      ($0.integer(0), $0.integer(1))
    }
    (bytes, clock) = totals ?? (0, 0)
  }

  func source(_ key: CacheKey) throws -> CachedSource? {
    try database.first(
      """
      SELECT sha256, bytes, final_url, etag, last_modified, answered, run, position, status
      FROM sources JOIN objects USING (sha256) WHERE key = ?
      """, [.text(key.text)]
    ) { row in
      CachedSource(
        sha256: row.text(0) ?? "", bytes: row.integer(1), finalURL: row.text(2) ?? "",
        validators: row.text(5).map { Validators(etag: row.text(3), lastModified: row.text(4), answered: $0) },
        asked: .init(runID: row.text(6) ?? "", position: row.integer(7), httpStatus: row.integer(8)))
    }
  }

  func knows(_ sha256: String) throws -> Bool {
    try database.first("SELECT 1 FROM objects WHERE sha256 = ?", [.text(sha256)]) { _ in true } ?? false
  }

  /// Takes down what a request gave, and that its file was used just now.
  func put(_ source: CachedSource, of key: CacheKey) throws {
    let isNew = try !knows(source.sha256)
    try change {
      try database.run(
        "INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET used = excluded.used",
        [.text(source.sha256), .integer(source.bytes), .integer(clock + 1)])
      try database.run(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          .text(key.text), .text(source.sha256), .text(source.finalURL), .optional(source.validators?.etag),
          .optional(source.validators?.lastModified), .optional(source.validators?.answered),
          .text(source.asked.runID), .integer(source.asked.position), .integer(source.asked.httpStatus),
        ])
      clock += 1
      if isNew { bytes += source.bytes }
    }
  }

  /// Forgets what a request gave.
  func forget(_ key: CacheKey) throws {
    try change { try database.run("DELETE FROM sources WHERE key = ?", [.text(key.text)]) }
  }

  /// The file that was used least recently; nil when there is none.
  func oldest() throws -> String? {
    try database.first("SELECT sha256 FROM objects ORDER BY used LIMIT 1") { $0.text(0) ?? "" }
  }

  /// Forgets a file, and what gave it.
  func remove(_ sha256: String) throws {
    let size = try database.first("SELECT bytes FROM objects WHERE sha256 = ?", [.text(sha256)]) { $0.integer(0) }
    try change {
      try database.run("DELETE FROM objects WHERE sha256 = ?", [.text(sha256)])
      bytes -= size ?? 0
    }
  }

  /// Takes down that no file lies in the folder that the index does not know.
  func hasSwept() { hasLost = false }

  /// Forgets everything: there are no files any more.
  func removeAll() throws {
    hasSwept()
    try change {
      try database.run("DELETE FROM objects")
      bytes = 0
    }
  }

  // MARK: Commits

  /// Commits what was changed.
  func settle() throws {
    guard hasChanged else { return }
    try attempt {
      if !hasLost { try setBoot(boot) }
      try database.commit()
    }
    (hasChanged, isSettled) = (false, !hasLost)
  }

  private func change(_ body: () throws -> Void) throws {
    if isSettled {
      try setBoot("")
      isSettled = false
    }
    if !hasChanged {
      try database.begin()
      hasChanged = true
    }
    try attempt(body)
  }

  /// Runs a part of a transaction, all of which is undone when that fails.
  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      database.rollBack()
      (hasChanged, hasLost) = (false, true)
      try? count()
      throw error
    }
  }

  private func setBoot(_ id: String) throws {
    try database.run("INSERT OR REPLACE INTO boot (rowid, id) VALUES (1, ?)", [.text(id)])
  }
}
