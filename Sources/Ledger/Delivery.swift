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

  /// From what it was made, and how, in the caller's words; nil when that does not matter.
  package var origin: String?

  /// Identifies, without reading it, the file under its final name as this one; in the caller's words, nil when it is not
  /// known. Only `LedgerChange.finish` records it.
  package var identity: String?

  package init(staged: String, target: String, bytes: Int, sha256: String, origin: String? = nil) {
    self.staged = staged
    self.target = target
    self.bytes = bytes
    self.sha256 = sha256
    self.origin = origin
  }
}
