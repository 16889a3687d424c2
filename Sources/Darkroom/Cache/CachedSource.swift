import Transfer

/// A source that was downloaded before, and whose bytes, or whose result, are there still.
struct CachedSource: Sendable, Equatable {
  /// The SHA-256 of its bytes, in lower-case hexadecimal.
  let sha256: String
  let bytes: Int

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// What to ask by whether it has changed; nil when the server sent nothing.
  let validators: Validators?

  /// Who asked for it last.
  let asked: Asked

  /// What the server said that they are, with its parameters; nil for pictures, and when it said nothing.
  var contentType: String?

  /// Whether the cache does not have it: nobody needs its bytes, because its result is there.
  var isOfResult = false

  /// A request that was answered.
  struct Asked: Sendable, Equatable {
    /// The run: within it, it is not asked again.
    let runID: String

    /// The entry's place in its manifest.
    let position: Int

    /// 200 or 304.
    let httpStatus: Int

    /// When, in milliseconds since 1970, UTC.
    var time = 0

    /// Whether the answer is for the run only, as that to a request that is no GET: it goes with the run.
    var isOnce = false
  }

  /// The same source, which a server has said to be what it was.
  func confirmed(by outcome: TransferOutcome, to asked: Asked) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: outcome.finalURL, validators: outcome.validators ?? validators,
      asked: asked, contentType: contentType, isOfResult: isOfResult)
  }
}
