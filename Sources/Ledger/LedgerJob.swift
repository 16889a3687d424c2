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
