import Database

/// The outcome of an entry of a live job.
package struct LedgerEntry: Sendable, Equatable, DatabaseRecord {
  /// Position in the manifest, from 0.
  package let position: Int

  /// The file that it delivers; nil when it failed, and when an ended entry is read from the ledger.
  package var delivery: Delivery?

  /// Additional files. Only `LedgerChange.finish` records them, as files of the job.
  package var others: [Delivery] = []

  /// A file that was delivered earlier and has not changed, although the record of it has.
  package struct Refreshed: Sendable, Equatable {
    /// Path beneath the job's folder.
    package let target: String

    /// The new `Delivery.identity`; nil when it does not change.
    package let identity: String?

    /// The new `Delivery.origin`; nil when it does not change.
    package let origin: String?

    /// - Returns: nil when nothing changes.
    package init?(target: String, identity: String? = nil, origin: String? = nil) {
      guard identity != nil || origin != nil else { return nil }
      (self.target, self.identity, self.origin) = (target, identity, origin)
    }
  }

  /// Default: nil. Only `LedgerChange.finish` records it.
  package let refreshed: Refreshed?

  /// The failure, if it failed. Only `LedgerChange.finish` records it.
  package let failure: LedgerFailure?

  /// Its row of the report (JSON).
  package var row: String

  package init(
    position: Int, delivery: Delivery?, refreshed: Refreshed? = nil, failure: LedgerFailure? = nil, row: String
  ) {
    self.position = position
    self.delivery = delivery
    self.refreshed = refreshed
    self.failure = failure
    self.row = row
  }

  package static let columns: Columns = ["position", "row", "staged", "target", "bytes", "sha256", "origin"]

  package init(_ row: Statement) {
    let delivery = row.text(3).map {
      Delivery(
        staged: row.text(2) ?? "", target: $0, bytes: row.integer(4), sha256: row.text(5) ?? "", origin: row.text(6))
    }
    self.init(position: row.integer(0), delivery: delivery, row: row.text(1) ?? "")
  }

  package var values: [SQLiteValue] {
    [
      .integer(position), .text(row), .optional(delivery?.staged), .optional(delivery?.target),
      .optional(delivery?.bytes), .optional(delivery?.sha256), .optional(delivery?.origin),
    ]
  }

  /// The number of a run's entries that are removed in the commit that ends it, for which everything else waits.
  static let removedAtOnce = 20_000

  /// Whether a row of `jobs` has entries.
  static let exists = "EXISTS (SELECT 1 FROM entries WHERE entries.run_id = jobs.run_id)"

  /// Removes the first entries, up to a number, of a run that has ended.
  static func remove(_ count: Int, ofEnded runID: String, _ database: Database) throws {
    try database.run(
      """
      DELETE FROM entries WHERE run_id = ?1 AND position <= coalesce(
        (SELECT position FROM entries WHERE run_id = ?1 ORDER BY position LIMIT 1 OFFSET ?2), 9223372036854775807)
      """, [.text(runID), .integer(count - 1)])
  }
}

/// A file to be moved from staging to its final name.
package struct Delivery: Sendable, Equatable, Codable {
  /// File name in the staging folder.
  package let staged: String

  /// Path beneath the job's folder in the outbox.
  package let target: String

  /// Size in bytes.
  package let bytes: Int

  /// SHA-256 in lower-case hexadecimal.
  package let sha256: String

  /// The source and the processing of the file, in the caller's words; nil when that does not matter.
  package var origin: String?

  /// Identifies the file under its final name without reading it; in the caller's words, nil when unknown. Only
  /// `LedgerChange.finish` records it.
  package var identity: String?

  package init(staged: String, target: String, bytes: Int, sha256: String, origin: String? = nil) {
    self.staged = staged
    self.target = target
    self.bytes = bytes
    self.sha256 = sha256
    self.origin = origin
  }
}
