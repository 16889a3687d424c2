import Database

/// A record that can be removed from the ledger.
package enum LedgerRecord: Sendable, Equatable {
  /// A run that has ended. It stays while another run of its job is live, which may need it, and while it has entries
  /// (`Ledger.removeEndedEntries`): they would all be removed in one commit, for which everything else waits.
  case endedRun(_ runID: String)

  /// A delivered file; nothing changes when another one has been delivered at its path since.
  case output(job: String, target: String, identity: String?)

  /// The mark of a run as its job's last, with its failures and its derived names. It stays while a run of the job is
  /// live.
  case lastRun(job: String, run: String)

  /// A notice that was processed or given up.
  case notice(run: String, LedgerNotice.Kind)

  func remove(from database: Database) throws {
    switch self {
    case .endedRun(let runID):
      try database.run(
        """
        DELETE FROM jobs WHERE run_id = ?1 AND state = 'ended' AND NOT EXISTS (
          SELECT 1 FROM jobs AS live WHERE live.name = jobs.name AND live.state != 'ended')
        AND NOT \(LedgerEntry.exists)
        """, [.text(runID)])
    case .output(let job, let target, let identity):
      try database.run(
        "DELETE FROM outputs WHERE job = ?1 AND target = ?2 AND identity IS ?3",
        [.text(job), .text(target), .optional(identity)])
    case .lastRun(let job, let runID):
      try database.run(
        """
        DELETE FROM last_runs WHERE job = ?1 AND run_id = ?2 AND NOT EXISTS (
          SELECT 1 FROM jobs WHERE name = ?1 AND state != 'ended')
        """, [.text(job), .text(runID)])
      if database.changes > 0 { try database.run("DELETE FROM failures WHERE run_id = ?1", [.text(runID)]) }
      try LedgerNamedRun.forget(runID, job: job, database)
    case .notice(let runID, let kind):
      try database.run("DELETE FROM notices WHERE run_id = ? AND kind = ?", [.text(runID), .text(kind.rawValue)])
    }
  }
}
