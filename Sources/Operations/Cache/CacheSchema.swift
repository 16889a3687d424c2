import Database

/// The tables of the cache's database.
///
/// Digests are random. Only their indexes are in that order, which are small; rows are in the order in which they came, so that a
/// batch changes few pages.
enum CacheSchema {
  /// Indexes of versions 2 and 3 are migrated; those of another version are created anew.
  private static let version = 4

  private static let tables = """
    CREATE TABLE IF NOT EXISTS objects (
      id INTEGER PRIMARY KEY,
      sha256 TEXT NOT NULL UNIQUE,
      bytes INTEGER NOT NULL,
      used INTEGER NOT NULL,        -- the larger, the later
      exempt INTEGER NOT NULL       -- 1: an answer for one run only has returned it; it takes no room, and stays
    ) STRICT;
    CREATE INDEX IF NOT EXISTS objects_by_use ON objects (used) WHERE exempt = 0;
    CREATE TABLE IF NOT EXISTS sources (
      key TEXT NOT NULL UNIQUE,
      object INTEGER NOT NULL REFERENCES objects ON DELETE CASCADE,
      final_url TEXT NOT NULL,      -- as reports show it
      etag TEXT,
      last_modified TEXT,
      answered TEXT,                -- null when there are no validators
      run TEXT NOT NULL,            -- of the last request
      position INTEGER NOT NULL,
      status INTEGER NOT NULL,
      once TEXT,                    -- the run, when the answer is for that only
      content_type TEXT             -- null for pictures
    ) STRICT;
    CREATE INDEX IF NOT EXISTS sources_by_object ON sources (object);
    CREATE INDEX IF NOT EXISTS sources_for_runs ON sources (once) WHERE once IS NOT NULL;
    CREATE TABLE IF NOT EXISTS boot (id TEXT NOT NULL) STRICT;  -- of the last commit; empty while there are changes
    PRAGMA user_version = \(version);
    """

  /// Creates the tables, if they are missing or of another version.
  static func prepare(_ database: Database) throws {
    let found = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
    if found == version { return }
    try database.transaction {
      if found == 2 { try database.execute("ALTER TABLE sources ADD COLUMN content_type TEXT") }
      guard found == 2 || found == 3 else {
        let names = ["sources", "objects", "boot"]
        return try database.execute(names.map { "DROP TABLE IF EXISTS \($0);" }.joined() + tables)
      }
      try database.execute(
        """
        ALTER TABLE objects RENAME TO old_objects;
        ALTER TABLE sources RENAME TO old_sources;
        DROP INDEX IF EXISTS objects_by_use;
        DROP INDEX IF EXISTS sources_by_object;
        DROP INDEX IF EXISTS sources_for_runs;
        \(tables)
        INSERT INTO objects (sha256, bytes, used, exempt)
        SELECT sha256, bytes, used, exempt FROM old_objects ORDER BY used;
        INSERT INTO sources
        SELECT key, id, final_url, etag, last_modified, answered, run, position, status, once, content_type
        FROM old_sources JOIN objects USING (sha256) ORDER BY id;
        DROP TABLE old_sources;
        DROP TABLE old_objects;
        """)
    }
  }
}
