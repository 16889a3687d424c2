import Ledger
import Transfer

/// The cache's database: which request gave which file, and which file was used when. It has one owner at a time.
///
/// Methods throw `SQLiteError`, and have changed nothing then.
final class CacheIndex {
  /// Of the tables; an index of another version is begun anew.
  private static let version = 1

  private let database: Database

  /// What the files take together.
  private(set) var bytes: Int

  /// Counts uses.
  private var clock: Int

  /// Opens the index, creates it when missing.
  /// - Parameter folder: Where it lies, as `index.sqlite` and what SQLite puts beside it.
  init(in folder: String) throws {
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
      CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL) STRICT;
      PRAGMA user_version = \(Self.version);
      """)
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
  /// - Returns: Whether the file is new.
  func put(_ source: CachedSource, of key: CacheKey) throws -> Bool {
    let isNew = try !knows(source.sha256)
    try database.transaction {
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
    }
    clock += 1
    if isNew { bytes += source.bytes }
    return isNew
  }

  /// Forgets what a request gave.
  func forget(_ key: CacheKey) throws { try database.run("DELETE FROM sources WHERE key = ?", [.text(key.text)]) }

  /// The file that was used least recently; nil when there is none.
  func oldest() throws -> String? {
    try database.first("SELECT sha256 FROM objects ORDER BY used LIMIT 1") { $0.text(0) ?? "" }
  }

  /// Forgets a file, and what gave it.
  func remove(_ sha256: String) throws {
    let size = try database.first("SELECT bytes FROM objects WHERE sha256 = ?", [.text(sha256)]) { $0.integer(0) }
    try database.run("DELETE FROM objects WHERE sha256 = ?", [.text(sha256)])
    bytes -= size ?? 0
  }

  /// Forgets everything, calling `body` with each file before.
  func removeAll(_ body: (String) throws -> Void) throws {
    try database.run("SELECT sha256 FROM objects") { try body($0.text(0) ?? "") }
    try database.run("DELETE FROM objects")
    bytes = 0
  }

  /// Since which start of the system the files are known to be those that the index knows; nil when it does not say.
  func boot() throws -> String? { try database.first("SELECT id FROM boot") { $0.text(0) } ?? nil }

  func setBoot(_ id: String) throws {
    try database.transaction {
      try database.run("DELETE FROM boot")
      try database.run("INSERT INTO boot VALUES (?)", [.text(id)])
    }
  }
}
