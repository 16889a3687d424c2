import Synchronization

/// What has been done, durably: when a method that changes something returns, the change survives a power cut.
///
/// It belongs to one process (SQLite's exclusive locking) and may be called from every thread; calls take turns.
/// Methods throw `SQLiteError`, and have changed nothing then.
package final class Ledger: Sendable {
  private let database: Mutex<Database>

  /// Opens the ledger, creates it when missing, and brings an older one to this version.
  /// - Throws: `LedgerError`, `SQLiteError`.
  package init(path: String) throws {
    let opened = try Database(path: path, durability: .powerCut, examine: LedgerSchema.refuseNewer)
    // Reading takes a shared lock only; this takes the exclusive one, which is kept until the ledger is closed.
    try opened.execute("BEGIN EXCLUSIVE; COMMIT")
    try LedgerSchema.migrate(opened)
    database = Mutex(opened)
  }

  // MARK: Jobs

  /// Adds a job; of the earlier runs of the same job only the last that ended is still remembered.
  package func accept(_ job: LedgerJob) throws {
    try database.withLock { database in
      try database.transaction {
        try database.run(
          """
          DELETE FROM jobs WHERE name = ?1 AND state = 'ended' AND sequence <
            (SELECT max(sequence) FROM jobs WHERE name = ?1 AND state = 'ended')
          """, [.text(job.name)])
        try database.run(
          """
          INSERT INTO jobs (run_id, name, state, details, outcome, sequence)
          VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(sequence), 0) + 1 FROM jobs))
          """,
          [
            .text(job.runID), .text(job.name), .text(job.state.rawValue), .text(job.details), .optional(job.outcome),
          ])
      }
    }
  }

  /// Moves a job forward; `outcome` is kept as it is when nil. An ended job keeps no entries and no pauses.
  package func advance(_ runID: String, to state: LedgerJob.State, outcome: String? = nil) throws {
    try database.withLock { database in
      try database.transaction {
        try database.run(
          "UPDATE jobs SET state = ?, outcome = coalesce(?, outcome) WHERE run_id = ?",
          [.text(state.rawValue), .optional(outcome), .text(runID)])
        if state == .ended {
          try database.run("DELETE FROM entries WHERE run_id = ?", [.text(runID)])
          try database.run("DELETE FROM pauses WHERE run_id = ?", [.text(runID)])
        }
      }
    }
  }

  /// The jobs that have not ended, in the order of their acceptance.
  package func liveJobs() throws -> [LedgerJob] {
    try jobs(LedgerJob.live)
  }

  /// The last run of a job that ended, nil when there was none.
  package func lastEnded(job name: String) throws -> LedgerJob? {
    try jobs("WHERE name = ? AND state = 'ended' ORDER BY sequence DESC LIMIT 1", [.text(name)]).first
  }

  private func jobs(_ clause: String, _ values: [SQLiteValue] = []) throws -> [LedgerJob] {
    try database.withLock { try LedgerJob.all(in: $0, clause, values) }
  }

  // MARK: Entries

  /// Records, in one commit, that these entries' files are about to be moved to their final names.
  package func intend(_ entries: [LedgerEntry], run runID: String) throws {
    guard !entries.isEmpty else { return }
    try database.withLock { database in
      try database.transaction {
        for entry in entries { try Self.put(entry, ended: false, run: runID, database) }
      }
    }
  }

  /// Records, in one commit, that these entries have ended: their files are in place, or they have none.
  package func finish(_ entries: [LedgerEntry], run runID: String, job name: String) throws {
    guard !entries.isEmpty else { return }
    try database.withLock { database in
      try database.transaction {
        for entry in entries {
          try Self.put(entry, ended: true, run: runID, database)
          if let known = entry.recognised {
            try database.run(
              "UPDATE outputs SET identity = ? WHERE job = ? AND target = ?",
              [.text(known.identity), .text(name), .text(known.target)])
          }
          guard let delivery = entry.delivery else { continue }
          try database.run(
            """
            INSERT OR REPLACE INTO outputs (job, target, bytes, sha256, origin, identity) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
              .text(name), .text(delivery.target), .integer(delivery.bytes), .text(delivery.sha256),
              .optional(delivery.origin), .optional(delivery.identity),
            ])
        }
      }
    }
  }

  private static func put(_ entry: LedgerEntry, ended: Bool, run runID: String, _ database: Database) throws {
    let delivery = entry.delivery
    try database.run(
      """
      INSERT OR REPLACE INTO entries (run_id, position, ended, staged, target, bytes, sha256, origin, row)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(runID), .integer(entry.position), .integer(ended ? 1 : 0), .optional(delivery?.staged),
        .optional(delivery?.target), .optional(delivery?.bytes), .optional(delivery?.sha256),
        .optional(delivery?.origin), .text(entry.row),
      ])
  }

  /// The entries whose files may or may not have reached their final names.
  package func intended(run runID: String) throws -> [LedgerEntry] {
    try entries("run_id = ? AND ended = 0 ORDER BY position", [.text(runID)])
  }

  /// Calls `body` with the entries that have ended, in the manifest's order, a page at a time.
  package func eachEndedPage(run runID: String, _ body: ([LedgerEntry]) throws -> Void) throws {
    var page = try ended(run: runID, after: -1)
    while let last = page.last {
      try body(page)
      page = try ended(run: runID, after: last.position)
    }
  }

  private func ended(run runID: String, after position: Int) throws -> [LedgerEntry] {
    try entries(
      "run_id = ? AND ended = 1 AND position > ? ORDER BY position LIMIT 512", [.text(runID), .integer(position)])
  }

  private func entries(_ clause: String, _ values: [SQLiteValue]) throws -> [LedgerEntry] {
    try database.withLock { database in
      var entries: [LedgerEntry] = []
      let columns = "position, staged, target, bytes, sha256, origin, row"
      try database.run("SELECT \(columns) FROM entries WHERE \(clause)", values) { row in
        let delivery = row.text(2).map {
          Delivery(
            staged: row.text(1) ?? "", target: $0, bytes: row.integer(3), sha256: row.text(4) ?? "",
            origin: row.text(5))
        }
        entries.append(LedgerEntry(position: row.integer(0), delivery: delivery, row: row.text(6) ?? ""))
      }
      return entries
    }
  }

  /// The file that a job last delivered under a path, nil when it never did.
  package func output(job name: String, target: String) throws -> LedgerOutput? {
    try database.withLock { database in
      try database.first(
        "SELECT bytes, sha256, origin, identity FROM outputs WHERE job = ? AND target = ?",
        [.text(name), .text(target)]
      ) { LedgerOutput(bytes: $0.integer(0), sha256: $0.text(1) ?? "", origin: $0.text(2), identity: $0.text(3)) }
    }
  }

  /// Whether a job has delivered anything in any of its runs.
  package func hasOutputs(job name: String) throws -> Bool {
    try database.withLock { database in
      try database.first("SELECT 1 FROM outputs WHERE job = ? LIMIT 1", [.text(name)]) { _ in true } ?? false
    }
  }

  // MARK: Pauses

  /// Records the beginning or, with the same cause, lock and beginning, the end of a pause.
  package func record(_ pause: LedgerPause, run runID: String) throws {
    try database.withLock { database in
      try database.run(
        "INSERT OR REPLACE INTO pauses VALUES (?, ?, ?, ?, ?, ?)",
        [
          .text(runID), .text(pause.cause), .text(pause.lock), .optional(pause.reason), .integer(pause.began),
          .optional(pause.ended),
        ])
    }
  }

  /// The pauses of a run, the oldest first.
  package func pauses(run runID: String) throws -> [LedgerPause] {
    try database.withLock { database in
      var pauses: [LedgerPause] = []
      try database.run(
        "SELECT cause, lock, reason, began_ms, ended_ms FROM pauses WHERE run_id = ? ORDER BY began_ms, lock",
        [.text(runID)]
      ) { row in
        pauses.append(
          LedgerPause(
            cause: row.text(0) ?? "", lock: row.text(1) ?? "", reason: row.text(2), began: row.integer(3),
            ended: row.isNull(4) ? nil : row.integer(4)))
      }
      return pauses
    }
  }
}
