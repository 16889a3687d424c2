/// What is known about a body that was written completely.
package struct TransferOutcome: Sendable, Hashable {
  /// 200, or `nil` for a file.
  package let httpStatus: Int?

  /// The URL that answered, redirects followed, userinfo removed.
  package let finalURL: String

  /// The body's length.
  package let bytes: Int

  /// The body's SHA-256, 64 lower-case hexadecimal digits.
  package let sha256: String

  /// The `Content-Type` header, as sent. `nil` for a file.
  package let contentType: String?

  /// The requests that were sent, redirects included.
  package let requests: RequestCount

  /// How long the transfer ran, without the time it waited for its turn.
  package let seconds: Double
}
