import Database
import Foundation

/// One run of a manifest, as recorded in the ledger.
package struct LedgerJob: Sendable, Equatable, DatabaseRecord {
  /// The progress of a run. It only goes back when a staged report is not intact.
  package enum State: String, Sendable {
    /// The snapshot of the manifest is durable; nothing has been done.
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

  /// The caller's details of the run, for a restart (JSON).
  package var details: String

  /// The outcome of the run (JSON), once it is `finishing`.
  package var outcome: String?

  /// The documents to be delivered, the report last, once it is `finishing`; empty when none are staged.
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

  /// Selects the jobs that have not ended, in order of acceptance.
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

  /// The stored form of documents; nil for none.
  static func text(_ documents: [Delivery]) -> String? {
    documents.isEmpty ? nil : (try? JSONEncoder().encode(documents)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func documents(_ text: String?) -> [Delivery] {
    text.flatMap { try? JSONDecoder().decode([Delivery].self, from: Data($0.utf8)) } ?? []
  }
}
