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
