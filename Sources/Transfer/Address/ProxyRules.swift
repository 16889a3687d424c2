/// Decides which proxy a request goes through, by curl's rules. libcurl does not apply them: the address policy has to
/// know whether a connection goes to a proxy.
package struct ProxyRules: Sendable, Equatable {
  /// The proxy for all URLs (`--proxy`). Default: none.
  package var override: Proxy?

  /// The proxies of the environment, by URL scheme.
  private var schemes: [String: Proxy] = [:]
  private var exceptions: [ProxyException] = []

  /// No proxy.
  package init() {}

  /// Reads `http_proxy` (lower case only: a web server sets `HTTP_PROXY` from a request's `Proxy` header), `https_proxy`,
  /// `all_proxy` and `no_proxy`, or else their upper-case forms. Empty variables are ignored.
  /// - Throws: `Proxy.ParseError`, which names the variable.
  package init(environment: [String: String]) throws(Proxy.ParseError) {
    let any = ["all_proxy", "ALL_PROXY"]
    schemes["http"] = try Self.first(["http_proxy"] + any, in: environment)
    schemes["https"] = try Self.first(["https_proxy", "HTTPS_PROXY"] + any, in: environment)
    let list = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    exceptions = list.split { $0 == "," || $0.isWhitespace }.map { ProxyException($0) }
  }

  private static func first(
    _ names: [String], in environment: [String: String]
  ) throws(Proxy.ParseError) -> Proxy? {
    for name in names {
      guard let value = environment[name], !value.isEmpty else { continue }
      do throws(Proxy.ParseError) {
        return try Proxy(parsing: value)
      } catch {
        throw Proxy.ParseError(message: "\(name) \(error.message)")
      }
    }
    return nil
  }

  /// The URL of the proxy for requests to a host; `nil` when they go to the host directly. May hold secrets.
  /// - Parameters:
  ///   - scheme: The URL's scheme in lower case.
  ///   - host: The URL's host, IPv6 in brackets; `nil` for a file.
  package func proxy(forScheme scheme: String, host: String?) -> String? {
    guard let host, let proxy = override ?? schemes[scheme] else { return nil }
    return exceptions.contains { $0.matches(host) } ? nil : proxy.url
  }
}
