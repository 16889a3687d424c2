/// What a server said by which to ask it whether a source has changed (RFC 9110, section 8.8).
package struct Validators: Sendable, Hashable {
  /// The `ETag`, as sent.
  package let etag: String?

  /// The `Last-Modified`, as sent.
  package let lastModified: String?

  /// The SHA-256 of the URL that answered, redirects followed: only there do they mean anything.
  package let answered: String

  package init(etag: String?, lastModified: String?, answered: String) {
    self.etag = etag
    self.lastModified = lastModified
    self.answered = answered
  }

  /// Longer ones are not used.
  static let maxBytes = 1024

  /// The header fields that make a request conditional.
  var fields: [String] {
    [etag.map { "If-None-Match: " + $0 }, lastModified.map { "If-Modified-Since: " + $0 }].compactMap { $0 }
  }
}
