import Transfer

/// What makes two requests the same: the SHA-256 of all that changes the answer, secrets included.
struct CacheKey: Sendable, Hashable {
  let text: String

  init(_ location: SourceLocation) { text = MessageDigest.hexDigest(of: "GET " + location.requestText) }
}
