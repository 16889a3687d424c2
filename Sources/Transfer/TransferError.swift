/// Why a transfer did not deliver its file.
package struct TransferError: Error, Sendable, Hashable {
  /// What went wrong, as reports name it. Stable.
  package let code: Code

  /// For people: names the thing, the limit and the value. Holds no secret: userinfo has been removed from URLs.
  package let message: String

  /// The status of the last response, if there was one.
  package var httpStatus: Int?

  /// The URL that was asked last, redirects followed, userinfo removed. `nil` before anything was asked.
  package var finalURL: String?

  /// How long the server asks not to be asked again (`Retry-After`), in seconds from now, 0 or more, not limited
  /// otherwise. Only with an `http-status` that is retryable.
  package var retryAfter: Double?

  /// How many bytes of bodies arrived, those of error pages included. Default: 0.
  package var bytes = 0

  /// The requests that were sent, redirects included.
  package var requests = RequestCount()

  /// The system's error number, with `io` and `file-not-found` if a system call gave one.
  package var systemError: Int32?

  /// Creates an error.
  package init(
    _ code: Code, _ message: String, httpStatus: Int? = nil, finalURL: String? = nil, systemError: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.httpStatus = httpStatus
    self.finalURL = finalURL
    self.systemError = systemError
  }

  /// Whether the same request may succeed later: `dns`, `connect`, `timeout`, `truncated`, `network`, and
  /// `http-status` with 408, 425, 429, 500, 502, 503 or 504.
  package var isRetryable: Bool {
    switch code {
    case .dns, .connect, .timeout, .truncated, .network: true
    case .httpStatus: httpStatus.map(Self.retryableStatuses.contains) ?? false
    default: false
    }
  }

  private static let retryableStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// The codes; raw values are those of the report.
  package enum Code: String, Sendable, CaseIterable {
    /// The text is not a URL, or a redirect led to something that is not one.
    case urlInvalid = "url-invalid"
    /// Neither http nor https, nor a file while a file root is set.
    case schemeNotAllowed = "scheme-not-allowed"
    /// The policy refuses the address, or the file does not lie beneath the file root.
    case addressNotAllowed = "address-not-allowed"
    /// Missing, unreadable, or not a regular file.
    case fileNotFound = "file-not-found"
    /// The host's name could not be resolved.
    case dns
    /// No connection could be made.
    case connect
    /// The TLS handshake failed, or the certificate is not to be trusted.
    case tls
    /// Connecting, the whole, or a stretch of little progress took too long.
    case timeout
    /// The answer's status is not 200.
    case httpStatus = "http-status"
    /// More redirects than allowed.
    case tooManyRedirects = "too-many-redirects"
    /// The body (or the header) is, or is announced to be, larger than allowed.
    case tooLarge = "too-large"
    /// The body is shorter than announced.
    case truncated
    /// The body has another digest than the request demands.
    case checksumMismatch = "checksum-mismatch"
    /// Anything else between the two machines: a reset, an answer that is not HTTP.
    case network
    /// The local file could not be written or read.
    case io
    /// The transfer was cancelled, or the engine shut down.
    case cancelled
  }
}
