extension TransferError {
  /// The kinds of failures; raw values are those of the report, and stable.
  ///
  /// A new code needs a case here and a decision in `isTransient`; the compiler requires both.
  package enum Code: String, Sendable, CaseIterable {
    /// The text, or the target of a redirect, is not a URL.
    case urlInvalid = "url-invalid"
    /// The scheme is neither http nor https, or it is file without a file root or in a list that a server has sent.
    case schemeNotAllowed = "scheme-not-allowed"
    /// The policy refuses the address, or the file is not beneath the file root.
    case addressNotAllowed = "address-not-allowed"
    /// The file is missing, unreadable, or not regular.
    case fileNotFound = "file-not-found"
    /// There is no host of this name.
    case hostNotFound = "host-not-found"
    /// The host's name could not be resolved now.
    case dns
    /// No connection could be established.
    case connect
    /// The TLS handshake failed, or the certificate is not trusted.
    case tls
    /// Connecting or the whole transfer took too long, or the transfer was too slow for too long.
    case timeout
    /// The response's status is not 200.
    case httpStatus = "http-status"
    /// There are more redirects than allowed.
    case tooManyRedirects = "too-many-redirects"
    /// The body or the header is larger than allowed, or is announced to be.
    case tooLarge = "too-large"
    /// The body is shorter or longer than announced.
    case truncated
    /// The body has another digest than the request's checksum.
    case checksumMismatch = "checksum-mismatch"
    /// Any other failure of the connection: a reset, a response that is not HTTP.
    case network
    /// The local file could not be written or read.
    case io
    /// The transfer was cancelled, or the engine shut down.
    case cancelled

    /// Whether the same request may succeed later. For `http-status` the status decides.
    var isTransient: Bool {
      switch self {
      case .dns, .connect, .timeout, .truncated, .network: true
      case .urlInvalid, .schemeNotAllowed, .addressNotAllowed, .fileNotFound, .hostNotFound, .tls, .httpStatus,
        .tooManyRedirects, .tooLarge, .checksumMismatch, .io, .cancelled:
        false
      }
    }
  }
}
