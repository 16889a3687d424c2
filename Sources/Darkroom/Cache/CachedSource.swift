import Transfer

/// A source that was downloaded before, and whose bytes the cache has.
struct CachedSource: Sendable, Equatable {
  /// The SHA-256 of its bytes, in lower-case hexadecimal.
  let sha256: String
  let bytes: Int

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// What to ask by whether it has changed; nil when the server gave nothing.
  let validators: Validators?

  /// The run that asked for it last: within it, it is not asked for again.
  let runID: String

  /// The same source, which a server has said in a run to be what it was.
  func confirmed(by outcome: TransferOutcome, runID: String) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: outcome.finalURL, validators: outcome.validators ?? validators,
      runID: runID)
  }
}
