/// A file to be moved from staging to its final name.
package struct Delivery: Sendable, Equatable {
  /// File name in the staging folder.
  package let staged: String

  /// Path beneath the job's folder in the outbox.
  package let target: String

  /// Size in bytes.
  package let bytes: Int

  /// SHA-256 in lower-case hexadecimal.
  package let sha256: String

  package init(staged: String, target: String, bytes: Int, sha256: String) {
    self.staged = staged
    self.target = target
    self.bytes = bytes
    self.sha256 = sha256
  }
}
