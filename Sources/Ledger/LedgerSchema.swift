import Database

/// The tables of the ledger.
enum LedgerSchema {
  static let migrations: Migrations = [
    """
    -- One row per run of a manifest, until the next run of the same job has ended.
    CREATE TABLE jobs (
      run_id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      state TEXT NOT NULL,          -- accepted, running, finishing, ended
      details TEXT NOT NULL,        -- JSON, the caller's
      outcome TEXT,                 -- JSON, the caller's; from `finishing` on
      sequence INTEGER NOT NULL     -- order of acceptance
    ) STRICT;
    CREATE INDEX jobs_by_name ON jobs (name, sequence);

    -- What a live job's entries came to: first, for a result, the intent to deliver it; then the row of the report.
    CREATE TABLE entries (
      run_id TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
      position INTEGER NOT NULL,    -- in the manifest, from 0
      ended INTEGER NOT NULL,       -- 0: intent, 1: done
      staged TEXT,                  -- file name in staging
      target TEXT,                  -- path beneath the job's folder
      bytes INTEGER,
      sha256 TEXT,
      row TEXT NOT NULL,            -- JSON, a row of the report
      PRIMARY KEY (run_id, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entries_intended ON entries (run_id) WHERE ended = 0;

    -- What a job has delivered in any of its runs: these files are ours, and may be replaced.
    CREATE TABLE outputs (
      job TEXT NOT NULL,
      target TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      sha256 TEXT NOT NULL,
      PRIMARY KEY (job, target)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE pauses (
      run_id TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
      cause TEXT NOT NULL,
      lock TEXT NOT NULL,           -- empty when the cause is not a lock
      reason TEXT,
      began_ms INTEGER NOT NULL,    -- since 1970, UTC
      ended_ms INTEGER,
      PRIMARY KEY (run_id, cause, lock, began_ms)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- From what an output was made, and what tells that it is still the file that was delivered.
    ALTER TABLE entries ADD COLUMN origin TEXT;     -- the caller's
    ALTER TABLE outputs ADD COLUMN origin TEXT;     -- the caller's; null: not known
    ALTER TABLE outputs ADD COLUMN identity TEXT;   -- the caller's; null: not known
    """,
    """
    -- The run of each job with which the next is compared: the last that ended and counts.
    CREATE TABLE last_runs (job TEXT PRIMARY KEY, run_id TEXT NOT NULL) STRICT, WITHOUT ROWID;

    -- What failed in these runs, and in those that have not ended.
    CREATE TABLE failures (
      run_id TEXT NOT NULL,
      name TEXT NOT NULL,           -- of the output, without extension
      first_seen TEXT NOT NULL,     -- RFC 3339
      runs INTEGER NOT NULL,        -- in a row, this one included
      code TEXT NOT NULL,
      PRIMARY KEY (run_id, name)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- Entries of live jobs that are tried again later. One that has ended since is left here until its job ends.
    CREATE TABLE deferred (
      run_id TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
      position INTEGER NOT NULL,    -- in the manifest, from 0
      attempts INTEGER NOT NULL,    -- how often it was tried
      due_ms INTEGER NOT NULL,      -- since 1970, UTC
      wait_ms INTEGER NOT NULL,     -- how long it was to wait
      first_ms INTEGER NOT NULL,    -- when it was first tried, since 1970, UTC
      PRIMARY KEY (run_id, position)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- The files that a finishing job is about to deliver besides its results: JSON; null or empty: they are not staged.
    ALTER TABLE jobs ADD COLUMN documents TEXT;

    -- A digest of all other columns of the row, in an order of its own for each table: see `LedgerTable`.
    ALTER TABLE jobs ADD COLUMN digest INTEGER;
    ALTER TABLE entries ADD COLUMN digest INTEGER;
    ALTER TABLE outputs ADD COLUMN digest INTEGER;
    ALTER TABLE pauses ADD COLUMN digest INTEGER;
    ALTER TABLE last_runs ADD COLUMN digest INTEGER;
    ALTER TABLE failures ADD COLUMN digest INTEGER;
    ALTER TABLE deferred ADD COLUMN digest INTEGER;
    UPDATE jobs SET digest = row_digest(run_id, name, state, details, outcome, documents, sequence);
    UPDATE entries SET digest = row_digest(run_id, ended, position, row, staged, target, bytes, sha256, origin);
    UPDATE outputs SET digest = row_digest(job, target, bytes, sha256, origin, identity);
    UPDATE pauses SET digest = row_digest(run_id, cause, lock, reason, began_ms, ended_ms);
    UPDATE last_runs SET digest = row_digest(job, run_id);
    UPDATE failures SET digest = row_digest(run_id, name, first_seen, runs, code);
    UPDATE deferred SET digest = row_digest(run_id, position, attempts, due_ms, wait_ms, first_ms);
    """,
    """
    -- The runs of each job of which it is known which names were derived: the live ones that have begun, and the last.
    CREATE TABLE named_runs (
      job TEXT NOT NULL,
      run_id TEXT NOT NULL,
      number INTEGER NOT NULL,      -- the largest of a job is its last run's
      pages INTEGER NOT NULL,       -- of `names`
      digest INTEGER,
      PRIMARY KEY (job, run_id)
    ) STRICT, WITHOUT ROWID;

    -- These names. Pages of a run that is not in `named_runs` do not count.
    CREATE TABLE names (
      run_id TEXT NOT NULL,
      page INTEGER NOT NULL,        -- from 0
      names TEXT NOT NULL,          -- JSON, the caller's
      digest INTEGER,
      PRIMARY KEY (run_id, page)
    ) STRICT, WITHOUT ROWID;

    -- Of runs of earlier versions none are known, which is no damage.
    INSERT INTO named_runs
      SELECT name, run_id, sequence, 0, row_digest(name, run_id, sequence, 0) FROM jobs WHERE state != 'ended';
    """,
    """
    -- What is to be done when runs have ended.
    CREATE TABLE notices (
      run_id TEXT NOT NULL,
      kind TEXT NOT NULL,           -- notify: a request to the receiver; exec: a run of the program
      job TEXT NOT NULL,
      state TEXT NOT NULL,          -- of the report
      report TEXT NOT NULL,         -- its path
      body TEXT,                    -- JSON, of a request
      attempts INTEGER NOT NULL,
      ended_ms INTEGER,             -- since 1970, UTC; null: the run has not ended
      due_ms INTEGER,               -- since 1970, UTC; null: the run has not ended
      digest INTEGER,
      PRIMARY KEY (run_id, kind)
    ) STRICT;
    CREATE INDEX notices_due ON notices (kind, due_ms);
    """,
  ]

  /// The first version with digests of rows.
  static let firstWithDigests = 5

  /// More migrations than any version of the program has.
  private static let implausible = 10_000

  /// - Throws: `LedgerError.newer` for a ledger that a newer program wrote.
  static func rejectNewer(_ database: Database) throws {
    try rejectNewer(Migrations.version(of: database), path: database.path)
  }

  /// - Throws: `LedgerError.newer` for a version that this program does not know; `.damaged` for one that no program has written.
  static func rejectNewer(_ version: Int, path: String) throws(LedgerError) {
    guard (0..<implausible).contains(version) else { throw .damaged(path: path, why: "its version is \(version)") }
    guard migrations.isKnown(version) else { throw .newer(path: path, version: version, known: migrations.newest) }
  }
}
