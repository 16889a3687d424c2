import System

/// The changes of a rule for a host, or of the time that is left, for one transfer.
package struct HostSettings: Sendable, Hashable {
  /// The time limit for resolving and connecting, TLS included. Default: `nil`, the configuration's.
  package var connectTimeout: Duration?

  /// The time limit for the first byte of a body, after the request was sent. Default: `nil`, the configuration's.
  package var firstByteTimeout: Duration?

  /// The time limit for the whole transfer. Default: `nil`, the configuration's.
  package var timeout: Duration?

  /// The rest of a longer time: the transfer ends after it even where `timeout` allows more. Default: `nil`, no limit.
  package var timeLeft: Duration?

  /// Header fields that are sent only to the host of the request, not to another one that it redirects to; a field of the request
  /// with the same name replaces them. May contain secrets. Default: none.
  package var headers: [HeaderField] = []

  /// User names and passwords in the format of ftp's `.netrc`. libcurl reads the file for each connection. It does not
  /// apply to a request with credentials in its URL or an `Authorization` field, nor after a redirect to another
  /// origin. Default: `nil`, none is read.
  package var netrc: MemoryFile?

  /// The limit for all transfers from the host together, on any port, in bytes per second; at least 1. Default: `nil`, only the
  /// configuration's.
  package var maxRate: Int?

  package init() {}

  /// The same for a try with shorter limits than others, as at a host that was silent. Existing settings stay.
  /// - Parameter limits: `connectTimeout`, `firstByteTimeout` and `timeLeft`.
  package func limited(by limits: HostSettings) -> HostSettings {
    var settings = self
    settings.connectTimeout = connectTimeout ?? limits.connectTimeout
    settings.firstByteTimeout = firstByteTimeout ?? limits.firstByteTimeout
    settings.timeLeft = [timeLeft, limits.timeLeft].compactMap { $0 }.min()
    return settings
  }
}
