import Database

/// A change of the ledger. Changes are committed together, so that they share the syncs of a commit.
package enum LedgerChange: Sendable {
  /// Adds a job. Of the earlier runs of the same job only the last that ended is still remembered, and those that still have
  /// entries, which are removed in parts.
  case accept(LedgerJob)

  /// Removes a run that has not ended, and all records of its entries. Its delivered files remain the job's, and so do its names
  /// if they are the job's last.
  case remove(_ runID: String)

  /// Moves a job forward; nil `outcome` and `documents` do not change. An ended job keeps no deferrals and no pauses, and of its
  /// entries only those that are too many to be removed at once, for
  /// `removeEndedEntries`.
  case advance(_ runID: String, to: LedgerJob.State, outcome: String? = nil, documents: [Delivery]? = nil)

  /// Changes the caller's details of a run, and forgets its deferrals, which were made to find these details.
  case describe(_ runID: String, details: String)

  /// Changes only the caller's details of a run.
  case note(_ runID: String, details: String)

  /// Makes a job's next run compare itself with this one, which is about to end. Without it an ended run's failures are
  /// forgotten, and those of the run before are kept.
  case remember(_ runID: String, job: String)

  /// Records some of a run's derived names. They count from `name` on.
  case addNames(LedgerNames, run: String)

  /// Makes this number of pages of a run's names those that its job's next run uses. The names of earlier ended runs are
  /// removed.
  case name(_ runID: String, job: String, pages: Int)

  /// An entry's file is about to be moved to its final name.
  case intend(LedgerEntry, run: String)

  /// An intent is taken back: the entry has no record any more. An entry that has ended does not change.
  case withdraw(position: Int, run: String)

  /// An entry has ended: its file has its final name, or it has none.
  case finish(LedgerEntry, run: String, job: String)

  /// An entry is tried again later. Its outcome then ends the deferral.
  case postpone(LedgerDeferral, run: String)

  /// A file that an earlier run of a job delivered, according to its report. A file that the ledger knows from its delivery does
  /// not change.
  case recall(Delivery, job: String)

  /// A file of a job, about to get its final name or, with an identity, at it.
  case deliver(Delivery, job: String)

  /// A failure of an ended run, according to its report.
  case recallFailure(LedgerFailure, run: String)

  /// A record leaves the ledger.
  case forget(LedgerRecord)

  /// The beginning or, with the same cause, lock and beginning, the end of a pause. Nothing is recorded for a run that has been
  /// removed.
  case pause(LedgerPause, run: String)

  /// A notice of a run that is about to end, or its next try. It replaces that of the same run and kind.
  case announce(LedgerNotice)

  /// Makes the notices of a run due, which has ended now, in milliseconds since 1970.
  case release(_ runID: String, at: Int)

  /// Makes the change, within a transaction.
  /// - Parameter lastSequence: The sequence number of the last accepted job.
  func apply(to database: Database, lastSequence: inout Int) throws {
    switch self {
    case .accept(let job):
      lastSequence += 1
      try Self.accept(job, sequence: lastSequence, database)
    case .remove(let runID): try Self.remove(runID, database)
    case .advance(let runID, let state, let outcome, let documents):
      try Self.advance(runID, to: state, outcome, documents, database)
    case .describe(let runID, let details): try Self.describe(runID, details, database)
    case .note(let runID, let details): try Self.note(runID, details, database)
    case .remember(let runID, let job): try LedgerFailure.remember(runID, job: job, database)
    case .addNames(let names, let runID): try database.run(LedgerTable.names.put, [.text(runID)] + names.values)
    case .name(let runID, let job, let pages): try LedgerNamedRun.put(runID, job: job, pages: pages, database)
    case .intend(let entry, let runID): try Self.put(entry, ended: false, run: runID, database)
    case .withdraw(let position, let runID):
      try database.run(
        "DELETE FROM entries WHERE run_id = ? AND position = ? AND ended = 0", [.text(runID), .integer(position)])
    case .finish(let entry, let runID, let job): try Self.finish(entry, run: runID, job: job, database)
    case .postpone(let deferral, let runID):
      try database.run(LedgerTable.deferred.put, [.text(runID)] + deferral.values)
    case .recall(let delivery, let job): try Self.recall(LedgerOutput(delivery), job: job, database)
    case .deliver(let delivery, let job):
      try database.run(LedgerTable.outputs.put, [.text(job)] + LedgerOutput(delivery).values)
    case .recallFailure(let failure, let runID): try failure.put(run: runID, database)
    case .forget(let record): try record.remove(from: database)
    case .announce(let notice): try database.run(LedgerTable.notices.put, notice.values)
    case .release(let runID, let time): try LedgerNotice.release(runID, at: time, database)
    case .pause(let pause, let runID):
      guard try database.first("SELECT 1 FROM jobs WHERE run_id = ?", [.text(runID)], row: { _ in true }) != nil else {
        return
      }
      try database.run(LedgerTable.pauses.put, [.text(runID)] + pause.values)
    }
  }

  private static func accept(_ job: LedgerJob, sequence: Int, _ database: Database) throws {
    try database.run(
      """
      DELETE FROM jobs WHERE name = ?1 AND state = 'ended' AND sequence <
        (SELECT max(sequence) FROM jobs WHERE name = ?1 AND state = 'ended')
      AND NOT \(LedgerEntry.exists)
      """, [.text(job.name)])
    try database.run(addJob, job.values + [.integer(sequence)])
  }

  /// An existing run is not replaced.
  private static let addJob = LedgerTable.jobs.add

  private static func remove(_ runID: String, _ database: Database) throws {
    try LedgerNamedRun.forgetEarlier(runID, database)
    for table in ["jobs", "entries", "deferred", "pauses", "failures", "notices"] {
      try database.run("DELETE FROM \(table) WHERE run_id = ?", [.text(runID)])
    }
  }

  private static func advance(
    _ runID: String, to state: LedgerJob.State, _ outcome: String?, _ documents: [Delivery]?, _ database: Database
  ) throws {
    try database.run(
      changeJob,
      [.text(state.rawValue), .optional(outcome), .optional(documents.map { LedgerJob.text($0) ?? "" }), .text(runID)])
    try checkChanged(runID, database)
    guard state == .ended else { return }
    try LedgerEntry.remove(LedgerEntry.removedAtOnce, ofEnded: runID, database)
    try database.run("DELETE FROM deferred WHERE run_id = ?", [.text(runID)])
    try database.run("DELETE FROM pauses WHERE run_id = ?", [.text(runID)])
    try LedgerFailure.forget(runID, database)
    try LedgerNamedRun.forgetEarlier(runID, database)
  }

  private static func note(_ runID: String, _ details: String, _ database: Database) throws {
    try database.run(changeDetails, [.text(details), .text(runID)])
    try checkChanged(runID, database)
  }

  private static func describe(_ runID: String, _ details: String, _ database: Database) throws {
    try note(runID, details, database)
    try database.run("DELETE FROM deferred WHERE run_id = ?", [.text(runID)])
  }

  /// - Throws: `LedgerError.damaged` when a job exists but was not changed.
  private static func checkChanged(_ runID: String, _ database: Database) throws {
    if database.changes == 0,
      try database.first("SELECT 1 FROM jobs WHERE run_id = ?", [.text(runID)], row: { _ in true }) == true
    {
      throw LedgerError.damaged(path: database.path, why: "the row of run \(runID) is not what was written")
    }
  }

  private static func finish(_ entry: LedgerEntry, run runID: String, job: String, _ database: Database) throws {
    try put(entry, ended: true, run: runID, database)
    if let known = entry.refreshed {
      try database.run(
        refreshOutput, [.optional(known.identity), .optional(known.origin), .text(job), .text(known.target)])
    }
    try entry.failure?.put(run: runID, database)
    for delivery in entry.others + [entry.delivery].compactMap({ $0 }) {
      try database.run(LedgerTable.outputs.put, [.text(job)] + LedgerOutput(delivery).values)
    }
  }

  private static func recall(_ output: LedgerOutput, job: String, _ database: Database) throws {
    // A row without an identity is itself recalled: a later report knows more of the file's origin.
    let known = try database.first(
      """
      SELECT 1 FROM outputs WHERE job = ?1 AND target = ?2 AND bytes = ?3 AND sha256 = ?4
      AND (identity IS NOT NULL OR ?5 IS NULL)
      """,
      [
        .text(job), .text(output.target), .integer(output.bytes), .text(output.sha256), .optional(output.origin),
      ], row: { _ in true })
    if known == nil { try database.run(LedgerTable.outputs.put, [.text(job)] + output.values) }
  }

  /// - Parameter ended: If true, the delivered file is in `outputs`, and not repeated here.
  private static func put(_ entry: LedgerEntry, ended: Bool, run runID: String, _ database: Database) throws {
    var entry = entry
    if ended { entry.delivery = nil }
    try database.run(LedgerTable.entries.put, [.text(runID), .integer(ended ? 1 : 0)] + entry.values)
  }

  // A changed row must be intact: a damaged one must not get a matching digest.
  private static let changeJob = """
    UPDATE jobs SET state = ?1, outcome = coalesce(?2, outcome), documents = coalesce(?3, documents), digest =
    \(LedgerTable.jobs.digest(
      changing: ["state": "?1", "outcome": "coalesce(?2, outcome)", "documents": "coalesce(?3, documents)"]))
    WHERE run_id = ?4 AND \(LedgerTable.jobs.isIntact)
    """

  private static let changeDetails = """
    UPDATE jobs SET details = ?1, digest = \(LedgerTable.jobs.digest(changing: ["details": "?1"]))
    WHERE run_id = ?2 AND \(LedgerTable.jobs.isIntact)
    """

  private static let refreshOutput = """
    UPDATE outputs SET identity = coalesce(?1, identity), origin = coalesce(?2, origin), digest =
    \(LedgerTable.outputs.digest(changing: ["identity": "coalesce(?1, identity)", "origin": "coalesce(?2, origin)"]))
    WHERE job = ?3 AND target = ?4 AND \(LedgerTable.outputs.isIntact)
    """
}
