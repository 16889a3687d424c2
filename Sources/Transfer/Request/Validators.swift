/// The validators of a response, with which a server can be asked whether a source has changed (RFC 9110, section 8.8).
package struct Validators: Sendable, Hashable {
  /// The `ETag`, as sent.
  package let etag: String?

  /// The `Last-Modified`, as sent.
  package let lastModified: String?

  /// The SHA-256 of the URL that returned them, redirects followed, or of the request's `validatorScope`; they are valid
  /// for this URL or scope only.
  package let urlDigest: String

  package init(etag: String?, lastModified: String?, urlDigest: String) {
    self.etag = etag
    self.lastModified = lastModified
    self.urlDigest = urlDigest
  }

  /// The longest validator that is used, in bytes.
  static let maxBytes = 1024

  /// The header fields that make a request conditional.
  var fields: [String] {
    [etag.map { "If-None-Match: " + $0 }, lastModified.map { "If-Modified-Since: " + $0 }].compactMap { $0 }
  }
}
