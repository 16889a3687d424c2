import CCurl
import System

/// The beginning of a body whose transfer broke off, which the next transfer of the same request may continue.
///
/// The caller passes it, with the file that was written, to the next try. It ends with the run: after a restart the digests would
/// have to be computed anew. An answer that is not exactly the rest is not used, because a decoder may accept a picture with wrong
/// bytes in the middle.
package final class PartialBody: @unchecked Sendable {  // used by one transfer at a time, then by its starter
  /// Identifies the body, so that a server can tell whether it has changed.
  struct Source {
    /// The value of `If-Range`: an entity tag or a date.
    let validator: String
    /// The SHA-256 of the URL that returned the body.
    let urlDigest: String
    /// The length of the whole body; `nil` when it was not announced.
    let total: Int?
    /// The response's validators, and whether it must not be stored.
    let etag: String?
    let lastModified: String?
    let forbidsStoring: Bool
  }

  /// The bytes so far, with their digests.
  struct Content {
    let source: Source
    let digests: BodyDigests
    let bytes: Int
  }

  private var content: Content?

  package init() {}

  /// The bytes at the beginning of the file that need not be sent again; `nil` when everything must be.
  package var bytes: Int? { content?.bytes }

  func keep(_ content: Content) { self.content = content }

  /// Returns the content, and removes it from this object.
  func take() -> Content? {
    defer { content = nil }
    return content
  }
}

extension PartialBody.Source {
  /// The source of the body that a response begins; `nil` when it cannot be continued: without a strong validator (RFC 9110,
  /// sections 8.8.1 and 13.1.5), or from a server that sends no parts.
  /// - Parameter url: The URL of the request.
  init?(_ header: ResponseHeader, from url: String) {
    guard !header.refusesRanges, let validator = Self.strongValidator(header) else { return nil }
    self.validator = validator
    urlDigest = MessageDigest.hexDigest(of: url)
    total = header.bodyBytes
    (etag, lastModified, forbidsStoring) = (header.etag, header.lastModified, header.forbidsStoring)
  }

  /// How much older than the response a date must be: within a second a file can change twice, and clocks differ (RFC 7232,
  /// section 2.2.2). In seconds.
  private static let leastAge = 60

  private static func strongValidator(_ header: ResponseHeader) -> String? {
    if let etag = header.etag { return etag.hasPrefix("\"") ? etag : nil }
    guard let modified = header.lastModified, let sent = header.date else { return nil }
    let (changed, now) = (curl_getdate(modified, nil), curl_getdate(sent, nil))
    return changed >= 0 && now - changed >= leastAge ? modified : nil
  }
}

/// The validators of a response, with which a server can be asked whether a source has changed (RFC 9110, section 8.8).
package struct Validators: Sendable, Hashable {
  /// The `ETag`, as sent.
  package let etag: String?

  /// The `Last-Modified`, as sent.
  package let lastModified: String?

  /// The SHA-256 of the URL that returned them, after redirects, or of the request's `validatorScope`; they are valid only for
  /// this URL or scope.
  package let urlDigest: String

  package init(etag: String?, lastModified: String?, urlDigest: String) {
    self.etag = etag
    self.lastModified = lastModified
    self.urlDigest = urlDigest
  }

  /// The longest validator that is used, in bytes.
  static let maxBytes = 1024

  /// Whether a text can be sent unchanged: neither empty nor too long, and printable ASCII.
  package static func isUsable(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maxBytes && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  /// The header fields that make a request conditional.
  var fields: [String] {
    [etag.map { "If-None-Match: " + $0 }, lastModified.map { "If-Modified-Since: " + $0 }].compactMap { $0 }
  }
}
