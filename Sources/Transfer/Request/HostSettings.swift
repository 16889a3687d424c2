import System

/// What a rule for a host, or the time that is left, changes for one transfer.
package struct HostSettings: Sendable, Hashable {
  /// How long resolving and connecting may take, TLS included. Default: `nil`, the configuration's.
  package var connectTimeout: Duration?

  /// How long the first byte of a body may take, after the request was sent. Default: `nil`, the configuration's.
  package var firstByteTimeout: Duration?

  /// How long the whole transfer may take. Default: `nil`, the configuration's.
  package var timeout: Duration?

  /// What is left of a longer time: the transfer ends after it even where `timeout` allows more. Default: `nil`, no limit.
  package var timeLeft: Duration?

  /// Header fields that are sent to the host of the request, and not to another one that it redirects to; a field of the
  /// request with the same name replaces them. May hold secrets. Default: none.
  package var headers: [HeaderField] = []

  /// User names and passwords in the format of ftp's `.netrc`. libcurl reads the file for each connection. It does not
  /// apply to a request with credentials in its URL or an `Authorization` field, nor after a redirect to another
  /// origin. Default: `nil`, none is read.
  package var netrc: MemoryFile?

  /// Bytes per second of all transfers from the host together, whatever the port; at least 1. Default: `nil`, no limit but
  /// the configuration's.
  package var maxRate: Int?

  package init() {}

  /// The same for a try that may take less time than others, as at a host that was silent. What is set stays.
  /// - Parameter limits: `connectTimeout`, `firstByteTimeout` and `timeLeft`.
  package func limited(by limits: HostSettings) -> HostSettings {
    var settings = self
    settings.connectTimeout = connectTimeout ?? limits.connectTimeout
    settings.firstByteTimeout = firstByteTimeout ?? limits.firstByteTimeout
    settings.timeLeft = [timeLeft, limits.timeLeft].compactMap { $0 }.min()
    return settings
  }
}
