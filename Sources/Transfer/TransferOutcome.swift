/// What is known about a body that was written completely.
package struct TransferOutcome: Sendable, Hashable {
  /// 200, or 304 when the request's validators are still valid, or `nil` for a file.
  package let httpStatus: Int?

  /// Whether the source is what it was, and nothing has been written.
  package var isNotModified: Bool { httpStatus == 304 }

  /// What to ask by whether it has changed. `nil` for a file, and when the server gave none.
  package let validators: Validators?

  /// Whether the server allows keeping the body: it did not say `Cache-Control: no-store`. `false` for a file.
  package let mayBeStored: Bool

  /// The URL that answered, redirects followed, userinfo removed.
  package let finalURL: String

  /// The body's length.
  package let bytes: Int

  /// The body's SHA-256, 64 lower-case hexadecimal digits; of no bytes when it is not modified.
  package let sha256: String

  /// The `Content-Type` header, as sent. `nil` for a file.
  package let contentType: String?

  /// The requests that were sent, redirects included.
  package let requests: RequestCount

  /// How long the transfer ran, without the time it waited for its turn.
  package let seconds: Double
}
