import System

/// The limits and settings of all transfers of an engine.
package struct TransferConfiguration: Sendable {
  /// The `User-Agent` header. Default: `darkroom`.
  package var userAgent = "darkroom"

  /// The time limit for resolving and connecting, TLS included. Default: 10 s.
  package var connectTimeout: Duration = .seconds(10)

  /// The time limit for a whole transfer, redirects included. Default: 600 s.
  package var timeout: Duration = .seconds(600)

  /// The time limit for the first byte of a body, after the request was sent. Default: nil, `usualFirstByteTimeout`.
  package var firstByteTimeout: Duration?

  /// The default time limit for the first byte.
  package static let usualFirstByteTimeout: Duration = .seconds(60)

  /// The speed, in bytes per second, below which a transfer whose body has begun times out after `lowSpeedPeriod`. 0
  /// disables it. Default: 1024.
  package var lowSpeed = 1024

  /// How long a transfer may stay below `lowSpeed`. Rounded up to whole seconds. Default: 15 s.
  package var lowSpeedPeriod: Duration = .seconds(15)

  /// The largest body, in bytes. Default: 256 MiB.
  package var maxBytes = 256 << 20

  /// How many redirects are followed. Default: 5.
  package var maxRedirects = 5

  /// The number of transfers from one host at once; the others wait, which does not count against their timeout. A transfer
  /// that is redirected to another host waits for a slot of that host. Default: `auto`.
  package var perHost = HostLimit.auto

  /// The rate limit of all transfers together, in bytes per second, at least 1. Default: `nil`, no limit.
  package var maxRate: Int?

  /// The addresses that may be connected to. Default: public ones.
  package var addressPolicy = AddressPolicy()

  /// The folder beneath which `file:` URLs and paths are read. Default: `nil`, none are read.
  package var fileRoot: String?

  /// The folders beneath `fileRoot` whose files forms must not send. Default: none.
  package var privateFolders: [String] = []

  /// The proxies to use. Default: none; `adopt(environment:)` reads those of the environment.
  package var proxies = ProxyRules()

  /// A file of trusted certificates (PEM), instead of the system's bundle. Default: `nil`, the system's.
  package var certificateFile: String?

  /// A folder of such certificates, named by their hashes, besides the file. Default: `nil`, none; the system's where the
  /// system has no bundle.
  package var certificateFolder: String?

  /// How long connections are kept while there are no transfers, in seconds. Default: 60.
  var idleLimit = 60.0

  /// Why the file of trusted certificates cannot be used, as a message; nil when it can, or the system's is used.
  package var certificateProblem: String? {
    guard let certificateFile, let problem = Self.problem(withCertificates: certificateFile) else { return nil }
    return "no https: URL can be downloaded, since the file of authorities (CURL_CA_BUNDLE, SSL_CERT_FILE) "
      + "cannot be used: \(problem)"
  }

  private static func problem(withCertificates path: String) -> String? {
    do {
      let file = try OpenFile(reading: path)
      if try file.status().kind == .folder { return "\(path): it is a folder" }
      let start = String(decoding: try file.readStart(64 << 10), as: UTF8.self)
      return start.contains("-----BEGIN ") ? nil : "\(path): it has no certificates"
    } catch {
      return "\(error)"
    }
  }

  /// The largest header of a transfer, in bytes: of all its responses together, including redirects, informational responses
  /// and trailers.
  static let maxHeaderBytes = 256 << 10

  /// Creates the default configuration.
  package init() {}

  /// Adopts the variables of the environment that curl reads: proxies (see `ProxyRules`), and the trusted certificates,
  /// from `CURL_CA_BUNDLE`, or else `SSL_CERT_FILE` and `SSL_CERT_DIR`. Empty variables are ignored.
  /// - Throws: `ParseError`.
  package mutating func adopt(environment: [String: String]) throws(ParseError) {
    let given = environment.filter { !$0.value.isEmpty }
    proxies = try ProxyRules(environment: given)
    certificateFile = given["CURL_CA_BUNDLE"] ?? given["SSL_CERT_FILE"]
    certificateFolder = given["CURL_CA_BUNDLE"] == nil ? given["SSL_CERT_DIR"] : nil
  }
}
