import Database

/// A change of the ledger. Changes are committed together, so that they share the syncs of a commit.
package enum LedgerChange: Sendable {
  /// Adds a job; of the earlier runs of the same job only the last that ended is still remembered.
  case accept(LedgerJob)

  /// Moves a job forward; `outcome` is kept as it is when nil. An ended job keeps no entries, no
  /// deferrals and no pauses.
  case advance(_ runID: String, to: LedgerJob.State, outcome: String? = nil)

  /// Has the next run of a job compare itself with this one, which is about to end. Without it an ended run's failures are
  /// forgotten, and those of the run before are kept.
  case remember(_ runID: String, job: String)

  /// An entry's file is about to be moved to its final name.
  case intend(LedgerEntry, run: String)

  /// An entry has ended: its file is in place, or it has none.
  case finish(LedgerEntry, run: String, job: String)

  /// An entry is tried again later. What it comes to then ends the deferral.
  case postpone(LedgerDeferral, run: String)

  /// The beginning or, with the same cause, lock and beginning, the end of a pause.
  case pause(LedgerPause, run: String)
}

extension LedgerChange {
  /// Makes the change, within a transaction.
  /// - Parameter lastSequence: The place of the job that was accepted last.
  func apply(to database: Database, lastSequence: inout Int) throws {
    switch self {
    case .accept(let job):
      lastSequence += 1
      try Self.accept(job, sequence: lastSequence, database)
    case .advance(let runID, let state, let outcome): try Self.advance(runID, to: state, outcome, database)
    case .remember(let runID, let job): try LedgerFailure.remember(runID, job: job, database)
    case .intend(let entry, let runID): try Self.put(entry, ended: false, run: runID, database)
    case .finish(let entry, let runID, let job): try Self.finish(entry, run: runID, job: job, database)
    case .postpone(let deferral, let runID):
      try database.run(Self.putDeferral, [.text(runID)] + deferral.values)
    case .pause(let pause, let runID): try database.run(Self.putPause, [.text(runID)] + pause.values)
    }
  }

  private static func accept(_ job: LedgerJob, sequence: Int, _ database: Database) throws {
    try database.run(
      """
      DELETE FROM jobs WHERE name = ?1 AND state = 'ended' AND sequence <
        (SELECT max(sequence) FROM jobs WHERE name = ?1 AND state = 'ended')
      """, [.text(job.name)])
    try database.run(
      """
      INSERT INTO jobs (\(LedgerJob.columns.names), sequence)
      VALUES (\(LedgerJob.columns.placeholders), ?)
      """, job.values + [.integer(sequence)])
  }

  private static func advance(
    _ runID: String, to state: LedgerJob.State, _ outcome: String?, _ database: Database
  ) throws {
    try database.run(
      "UPDATE jobs SET state = ?, outcome = coalesce(?, outcome) WHERE run_id = ?",
      [.text(state.rawValue), .optional(outcome), .text(runID)])
    guard state == .ended else { return }
    try database.run("DELETE FROM entries WHERE run_id = ?", [.text(runID)])
    try database.run("DELETE FROM deferred WHERE run_id = ?", [.text(runID)])
    try database.run("DELETE FROM pauses WHERE run_id = ?", [.text(runID)])
    try LedgerFailure.forget(runID, database)
  }

  private static func finish(_ entry: LedgerEntry, run runID: String, job: String, _ database: Database) throws {
    try put(entry, ended: true, run: runID, database)
    if let known = entry.refreshed {
      try database.run(
        "UPDATE outputs SET identity = ? WHERE job = ? AND target = ?",
        [.text(known.identity), .text(job), .text(known.target)])
    }
    try entry.failure?.put(run: runID, database)
    guard let delivery = entry.delivery else { return }
    try database.run(putOutput, [.text(job)] + LedgerOutput(delivery).values)
  }

  private static func put(_ entry: LedgerEntry, ended: Bool, run runID: String, _ database: Database) throws {
    try database.run(putEntry, [.text(runID), .integer(ended ? 1 : 0)] + entry.values)
  }

  private static let putEntry = """
    INSERT OR REPLACE INTO entries (run_id, ended, \(LedgerEntry.columns.names))
    VALUES (?, ?, \(LedgerEntry.columns.placeholders))
    """

  private static let putOutput = """
    INSERT OR REPLACE INTO outputs (job, \(LedgerOutput.columns.names))
    VALUES (?, \(LedgerOutput.columns.placeholders))
    """

  private static let putDeferral = """
    INSERT OR REPLACE INTO deferred (run_id, \(LedgerDeferral.columns.names))
    VALUES (?, \(LedgerDeferral.columns.placeholders))
    """

  private static let putPause = """
    INSERT OR REPLACE INTO pauses (run_id, \(LedgerPause.columns.names))
    VALUES (?, \(LedgerPause.columns.placeholders))
    """
}
