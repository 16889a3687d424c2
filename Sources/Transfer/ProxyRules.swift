/// Which proxy a request goes through. The rules are curl's; they are decided here, not by libcurl, because what is
/// asked of the address policy depends on them.
package struct ProxyRules: Sendable, Equatable {
  /// The proxy for all URLs (`--proxy`). Default: none.
  package var override: Proxy?

  private var schemes: [SourceLocation.Scheme: Proxy] = [:]
  private var exceptions: [ProxyException] = []

  /// No proxy.
  package init() {}

  /// Reads `http_proxy` (lower case only: a web server sets `HTTP_PROXY` from a request's `Proxy` header), `https_proxy`,
  /// `all_proxy` and `no_proxy`, or else their upper-case forms. Empty variables are as good as none.
  /// - Throws: `Proxy.ParseError`, which names the variable.
  package init(environment: [String: String]) throws(Proxy.ParseError) {
    let any = ["all_proxy", "ALL_PROXY"]
    schemes[.http] = try Self.first(["http_proxy"] + any, in: environment)
    schemes[.https] = try Self.first(["https_proxy", "HTTPS_PROXY"] + any, in: environment)
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

  /// The URL of the proxy, or `nil` when the request goes to its host directly. It may hold secrets.
  func proxy(for location: SourceLocation) -> String? {
    guard let host = location.host, let proxy = override ?? schemes[location.scheme] else { return nil }
    return exceptions.contains { $0.matches(host) } ? nil : proxy.url
  }
}
