/// The limits that every transfer of an engine obeys.
package struct TransferConfiguration: Sendable {
  /// The `User-Agent` header. Default: `darkroom`.
  package var userAgent = "darkroom"

  /// How long resolving and connecting may take, TLS included. Default: 10 s.
  package var connectTimeout: Duration = .seconds(10)

  /// How long a transfer may take as a whole, redirects included. Default: 600 s.
  package var timeout: Duration = .seconds(600)

  /// Slower than this, in bytes per second, for `lowSpeedPeriod`, is a timeout. 0 turns it off. Default: 1024.
  package var lowSpeed = 1024

  /// How long a transfer may stay below `lowSpeed`. Rounded up to whole seconds. Default: 15 s.
  package var lowSpeedPeriod: Duration = .seconds(15)

  /// The largest body, in bytes. Default: 256 MiB.
  package var maxBytes = 256 << 20

  /// How many redirects are followed. Default: 5.
  package var maxRedirects = 5

  /// How many transfers from one host run at once; the others wait, and waiting costs them no time. A redirect to
  /// another host waits for its turn there. Default: 6.
  package var perHost = 6

  /// Which addresses may be connected to. Default: public ones.
  package var addressPolicy = AddressPolicy()

  /// The folder beneath which `file:` URLs and bare paths are read. Default: `nil`, none are read.
  package var fileRoot: String?

  /// The proxies to use. Default: none, whatever the environment says (`adopt(environment:)` reads it).
  package var proxies = ProxyRules()

  /// A file of certificates (PEM) that are trusted, instead of the system's. Default: `nil`, the system's.
  package var certificateFile: String?

  /// A folder of such certificates, named by their hashes, besides the file. Default: `nil`, the system's.
  package var certificateFolder: String?

  /// The largest header of a transfer, in bytes: of all its responses, redirects, informational ones and trailers.
  static let maxHeaderBytes = 256 << 10

  /// The defaults.
  package init() {}
}
