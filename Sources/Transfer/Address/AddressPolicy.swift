/// Decides which addresses may be connected to: public ones, and those of allowed networks.
package struct AddressPolicy: Sendable {
  /// Special networks whose addresses are allowed (`--allow-net`). Default: none.
  package var allowedNetworks: [Network]

  package init(allowing allowedNetworks: [Network] = []) { self.allowedNetworks = allowedNetworks }

  /// The decision on an address.
  package enum Verdict: Hashable, Sendable {
    case allowed
    /// The reason names the address and the option that would allow it.
    case refused(String)
  }

  /// Decides on an address. One in an allowed network is allowed. Otherwise it is refused when it is in a special network, or
  /// when an IPv4 address that it embeds is refused.
  package func verdict(for address: IPAddress) -> Verdict {
    guard let violation = violation(by: address) else { return .allowed }
    return .refused("\(reason(address, violation)); --allow-net \(violation.1.network) would allow it")
  }

  /// Why the addresses of a host are refused, with the option that would allow them; `nil` when one of them is allowed, or
  /// there are none.
  /// - Parameter isLocal: Whether the host's name is `localhost`, which is IPv4 on one machine and IPv6 on another: the
  ///   option then has both. Default: `false`.
  func refusal(of addresses: [IPAddress], isLocal: Bool = false) -> String? {
    var reasons: [String] = []
    var networks = isLocal ? SpecialNetwork.loopback : []
    for address in addresses {
      guard let violation = violation(by: address) else { return nil }
      let reason = reason(address, violation)
      if !reasons.contains(reason) { reasons.append(reason) }
      if !networks.contains(violation.1.network) { networks.append(violation.1.network) }
    }
    guard !reasons.isEmpty else { return nil }
    let option = "--allow-net " + networks.map(\.description).joined(separator: ",")
    return reasons.joined(separator: ", and ") + "; \(option) would allow \(reasons.count > 1 ? "them" : "it")"
  }

  private func reason(_ address: IPAddress, _ violation: (IPAddress, SpecialNetwork)) -> String {
    let (refused, special) = violation
    return (refused == address ? "\(address) is" : "\(address) embeds \(refused),") + " \(special.kind)"
  }

  /// The address itself or the first one embedded in it that is refused, and its special network.
  private func violation(by address: IPAddress) -> (IPAddress, SpecialNetwork)? {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
    if let special = SpecialNetwork.all.first(where: { $0.network.contains(address) }) { return (address, special) }
    return address.embeddedAddresses.lazy.compactMap(violation).first
  }
}

/// A range without addresses of public Internet hosts.
struct SpecialNetwork: Sendable {
  let network: Network

  /// The kind of address, with its article: `a loopback address`.
  let kind: String

  private init(_ network: StaticString, _ kind: String) {
    self.network = Network(network)
    self.kind = kind
  }

  /// The networks of a machine's own IPv4 and IPv6 addresses.
  static let loopback = [Network("127.0.0.0/8"), Network("::1/128")]

  /// The ranges of IANA's IPv4 and IPv6 Special-Purpose Address Registries that are not globally reachable, and
  /// multicast. Narrow ranges come before those that contain them.
  ///
  /// `64:ff9b:1::/48` (RFC 8215) is refused as a whole: each operator chooses where it embeds IPv4 addresses.
  static let all: [SpecialNetwork] = [
    .init("0.0.0.0/32", "the unspecified address"),
    .init("0.0.0.0/8", "an address of \"this network\""),
    .init("10.0.0.0/8", "a private address"),
    .init("100.64.0.0/10", "a carrier-grade NAT address"),
    .init("127.0.0.0/8", "a loopback address"),
    .init("169.254.0.0/16", "a link-local address"),
    .init("172.16.0.0/12", "a private address"),
    .init("192.0.0.0/24", "an address of protocol assignments"),
    .init("192.0.2.0/24", "a documentation address"),
    .init("192.88.99.0/24", "a 6to4 relay address"),
    .init("192.168.0.0/16", "a private address"),
    .init("198.18.0.0/15", "a benchmarking address"),
    .init("198.51.100.0/24", "a documentation address"),
    .init("203.0.113.0/24", "a documentation address"),
    .init("224.0.0.0/4", "a multicast address"),
    .init("255.255.255.255/32", "the broadcast address"),
    .init("240.0.0.0/4", "a reserved address"),

    .init("::/128", "the unspecified address"),
    .init("::1/128", "a loopback address"),
    .init("64:ff9b:1::/48", "a local-use NAT64 address"),
    .init("100::/64", "a discard-only address"),
    .init("2001:2::/48", "a benchmarking address"),
    .init("2001:10::/28", "an ORCHID"),
    .init("2001:db8::/32", "a documentation address"),
    .init("3fff::/20", "a documentation address"),
    .init("5f00::/16", "a segment identifier"),
    .init("fc00::/7", "a private address"),
    .init("fe80::/10", "a link-local address"),
    .init("fec0::/10", "a site-local address"),
    .init("ff00::/8", "a multicast address"),
  ]
}
