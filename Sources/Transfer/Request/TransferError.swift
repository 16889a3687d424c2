import System

/// Why a transfer failed.
package struct TransferError: Error, Sendable, Hashable {
  /// The kind of failure, as reports name it.
  package let code: Code

  /// For people: names the thing, the limit and the value. Contains no secret: userinfo is removed from URLs.
  package let message: String

  /// The status of the last response. Default: `nil`, there was none.
  package var httpStatus: Int?

  /// The URL of the last request, after redirects, without userinfo. Default: `nil`, nothing was requested.
  package var finalURL: String?

  /// How long the server asks to wait before the next request (`Retry-After`), in seconds from now, 0 or more. Only with a
  /// retryable status. Default: `nil`, the server sent none.
  package var retryAfter: Double?

  /// The received bytes of bodies, error pages included. Default: 0.
  package var bytes = 0

  /// The sent requests, redirects included. Default: none.
  package var requests = RequestCount()

  /// The host's answer to the last request. Default: `nil`, none.
  package var answer: HostAnswer?

  /// Whether the time limit was exceeded before the host's name was resolved: no connection was tried. Default: `false`.
  package var isUnresolved = false

  /// A failure of the proxy before it reached the host.
  package enum ProxyFailure: Sendable {
    /// Its name has no address.
    case unresolved
    /// There was no connection to it.
    case unreachable
  }

  /// Set when the proxy failed, not the host. Default: `nil`.
  package var proxyFailure: ProxyFailure?

  /// The system's error number (`errno`), with `io`, `file-not-found` and `connect`. Default: `nil`, no system call
  /// failed.
  package var systemError: Int32?

  /// Whether the source's file could not be read; otherwise ours could not be written. Default: `false`.
  package var isOfSource = false

  package init(
    _ code: Code, _ message: String, httpStatus: Int? = nil, finalURL: String? = nil, systemError: Int32? = nil,
    isOfSource: Bool = false
  ) {
    self.code = code
    self.message = message
    self.httpStatus = httpStatus
    self.finalURL = finalURL
    self.systemError = systemError
    self.isOfSource = isOfSource
  }

  static func cancelled(_ location: SourceLocation) -> TransferError {
    TransferError(.cancelled, "\(location.redacted) was cancelled")
  }

  /// The process or the machine has no descriptors, memory or threads left: the host has not failed.
  /// - Parameter number: `errno`.
  static func exhausted(_ number: Int32, _ what: String, _ location: SourceLocation) -> TransferError {
    TransferError(.io, "\(location.redacted): \(what): \(systemMessage(number))", systemError: number)
  }

  /// Whether the same request may succeed later: `dns`, `connect`, `timeout`, `truncated`, `network`, `io` of a source's
  /// file, and `http-status` with 408, 425, 429, 500, 502, 503 or 504.
  package var isRetryable: Bool {
    code.isTransient || code == .io && isOfSource
      || code == .httpStatus && httpStatus.map(Self.transientStatuses.contains) == true
  }

  /// Whether the host asks for fewer requests of any kind: status 429, or 503 with `Retry-After`.
  package var isHostRefusal: Bool {
    code == .httpStatus && (httpStatus == 429 || httpStatus == 503 && retryAfter != nil)
  }

  private static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
}
