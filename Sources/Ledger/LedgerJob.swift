import Database
import Foundation

/// One run of a manifest, as the ledger knows it.
package struct LedgerJob: Sendable, Equatable, DatabaseRecord {
  /// How far a run has come. It only goes back when a report that was staged is not what was written.
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
  package var details: String

  /// What the run came to (JSON), once it is `finishing`.
  package var outcome: String?

  /// The documents that it is about to deliver, its report last, once it is `finishing`; empty when none are staged.
  package var documents: [Delivery]

  package init(
    runID: String, name: String, state: State = .accepted, details: String, outcome: String? = nil,
    documents: [Delivery] = []
  ) {
    self.runID = runID
    self.name = name
    self.state = state
    self.details = details
    self.outcome = outcome
    self.documents = documents
  }

  /// Selects the jobs that have not ended, in the order of their acceptance.
  static let live = "WHERE state != 'ended' ORDER BY sequence"

  package static let columns: Columns = ["run_id", "name", "state", "details", "outcome", "documents"]

  package init(_ row: Statement) {
    self.init(
      runID: row.text(0) ?? "", name: row.text(1) ?? "", state: row.text(2).flatMap(State.init(rawValue:)) ?? .accepted,
      details: row.text(3) ?? "", outcome: row.text(4), documents: Self.documents(row.text(5)))
  }

  package var values: [SQLiteValue] {
    [
      .text(runID), .text(name), .text(state.rawValue), .text(details), .optional(outcome),
      .optional(Self.text(documents)),
    ]
  }

  /// The form in which documents are kept; nil for none.
  static func text(_ documents: [Delivery]) -> String? {
    documents.isEmpty ? nil : (try? JSONEncoder().encode(documents)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func documents(_ text: String?) -> [Delivery] {
    text.flatMap { try? JSONDecoder().decode([Delivery].self, from: Data($0.utf8)) } ?? []
  }
}
