import Database

/// A file that a job has delivered in any of its runs.
package struct LedgerOutput: Sendable, Equatable {
  /// Path beneath the job's folder.
  package let target: String

  /// Size in bytes.
  package let bytes: Int

  /// SHA-256 in lower-case hexadecimal.
  package let sha256: String

  /// The delivery's origin.
  package let origin: String?

  /// The delivery's identity.
  package let identity: String?
}

extension LedgerOutput {
  /// The delivered file under its final name.
  init(_ delivery: Delivery) {
    self.init(
      target: delivery.target, bytes: delivery.bytes, sha256: delivery.sha256, origin: delivery.origin,
      identity: delivery.identity)
  }
}

extension LedgerOutput: DatabaseRecord {
  package static let columns: Columns = ["target", "bytes", "sha256", "origin", "identity"]

  package init(_ row: Statement) {
    self.init(
      target: row.text(0) ?? "", bytes: row.integer(1), sha256: row.text(2) ?? "", origin: row.text(3),
      identity: row.text(4))
  }

  package var values: [SQLiteValue] {
    [.text(target), .integer(bytes), .text(sha256), .optional(origin), .optional(identity)]
  }
}
