import CCurl
import System

/// Decides which proxy a request goes through, by curl's rules. libcurl does not apply them: the address policy has to
/// know whether a connection goes to a proxy.
package struct ProxyRules: Sendable, Equatable {
  /// The proxy for all URLs (`--proxy`). Default: none.
  package var override: Proxy?

  /// The proxies of the environment, by URL scheme.
  private var schemes: [String: Proxy] = [:]
  private var exceptions: [ProxyException] = []

  package init() {}

  /// Reads `http_proxy` (lower case only: a web server sets `HTTP_PROXY` from a request's `Proxy` header), `https_proxy`,
  /// `all_proxy` and `no_proxy`, or else their upper-case forms. Empty variables are ignored.
  /// - Throws: `ParseError`, which names the variable.
  package init(environment: [String: String]) throws(ParseError) {
    let any = ["all_proxy", "ALL_PROXY"]
    schemes["http"] = try Self.first(["http_proxy"] + any, in: environment)
    schemes["https"] = try Self.first(["https_proxy", "HTTPS_PROXY"] + any, in: environment)
    let list = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    exceptions = list.split { $0 == "," || $0.isWhitespace }.map { ProxyException($0) }
  }

  private static func first(
    _ names: [String], in environment: [String: String]
  ) throws(ParseError) -> Proxy? {
    for name in names {
      guard let value = environment[name], !value.isEmpty else { continue }
      do throws(ParseError) {
        return try Proxy(parsing: value)
      } catch {
        throw ParseError("\(name) \(error.message)")
      }
    }
    return nil
  }

  /// The URL of the proxy for requests to a host; `nil` when they go to the host directly. May contain secrets.
  /// - Parameters:
  ///   - scheme: The URL's scheme in lower case.
  ///   - host: The URL's host, IPv6 in brackets; `nil` for a file.
  package func proxy(forScheme scheme: String, host: String?) -> String? {
    guard let host, let proxy = override ?? schemes[scheme] else { return nil }
    return exceptions.contains { $0.matches(host) } ? nil : proxy.url
  }
}

/// A proxy, as given by `--proxy` or the environment.
package struct Proxy: Sendable, Equatable {
  /// As given. May contain secrets.
  let url: String

  /// Parses `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`; without a scheme it is http, without a port 1080, as in curl.
  /// - Throws: `ParseError` for anything else.
  package init(parsing text: String) throws(ParseError) {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let expected = "must be a proxy's URL (\(schemes.joined(separator: ", "))), such as http://proxy.example:3128"
    let hasScheme = text.range(of: "://") != nil
    guard let parsed = try? URLHandle(parsing: text, flags: URLHandle.proxyFlags),
      let scheme = parsed.part(CURLUPART_SCHEME), schemes.contains(scheme), parsed.part(CURLUPART_HOST) != nil,
      // With others libcurl sends requests without the proxy.
      parsed.isReadable(CURLUPART_USER), parsed.isReadable(CURLUPART_PASSWORD)
    else {
      throw ParseError("\(expected), not \"\(redacted(hasScheme ? text : "http://" + text, valid: false))\"")
    }
    url = text
  }
}

/// One element of `no_proxy`: `*`, a network or an address, or a domain with its subdomains, with or without a leading dot.
enum ProxyException: Sendable, Equatable {
  case all
  case network(Network)
  case domain(String)

  init(_ text: some StringProtocol) {
    if text == "*" {
      self = .all
    } else if let network = try? Network(parsing: String(text.filter { $0 != "[" && $0 != "]" })) {
      self = .network(network)
    } else {
      self = .domain(Self.normalised(text.drop { $0 == "." }))
    }
  }

  /// Whether requests to a host (IPv6 in brackets) bypass the proxy.
  func matches(_ host: String) -> Bool {
    switch self {
    case .all: return true
    case .network(let network):
      return IPAddress(host.filter { $0 != "[" && $0 != "]" }).map(network.contains) ?? false
    case .domain(let domain):
      let host = Self.normalised(host)
      return IPAddress(host) == nil && !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }
  }

  private static func normalised(_ name: some StringProtocol) -> String {
    let name = name.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}
