import Database

/// One run of a manifest, as the ledger knows it.
package struct LedgerJob: Sendable, Equatable {
  /// How far a run has come. It only ever goes forward.
  package enum State: String, Sendable {
    /// The snapshot of the manifest is durable; nothing was done.
    case accepted
    /// Entries are being worked on.
    case running
    /// Every entry is terminal; the outcome is fixed and the report is being written.
    case finishing
    /// The report was written and the manifest moved.
    case ended
  }

  package let runID: String
  package let name: String
  package var state: State

  /// What the caller wants to know again after a restart (JSON).
  package let details: String

  /// What the run came to (JSON), once it is `finishing`.
  package var outcome: String?

  package init(runID: String, name: String, state: State = .accepted, details: String, outcome: String? = nil) {
    self.runID = runID
    self.name = name
    self.state = state
    self.details = details
    self.outcome = outcome
  }
}

extension LedgerJob: DatabaseRecord {
  /// Selects the jobs that have not ended, in the order of their acceptance.
  static let live = select("FROM jobs WHERE state != 'ended' ORDER BY sequence")

  package static let columns: Columns = ["run_id", "name", "state", "details", "outcome"]

  package init(_ row: Statement) {
    self.init(
      runID: row.text(0) ?? "", name: row.text(1) ?? "", state: row.text(2).flatMap(State.init(rawValue:)) ?? .accepted,
      details: row.text(3) ?? "", outcome: row.text(4))
  }

  package var values: [SQLiteValue] {
    [.text(runID), .text(name), .text(state.rawValue), .text(details), .optional(outcome)]
  }
}
