/// A file that a job has delivered, in whichever of its runs.
package struct LedgerOutput: Sendable, Equatable {
  /// Size in bytes.
  package let bytes: Int

  /// SHA-256 in lower-case hexadecimal.
  package let sha256: String

  /// As its delivery had it.
  package let origin: String?

  /// As its delivery had it.
  package let identity: String?
}
