/// Decides which addresses may be connected to: public ones, and those of networks that were allowed.
package struct AddressPolicy: Sendable {
  /// Special networks whose addresses are allowed (`--allow-net`). Default: none.
  package var allowedNetworks: [Network]

  /// Creates a policy.
  package init(allowing allowedNetworks: [Network] = []) {
    self.allowedNetworks = allowedNetworks
  }

  /// The decision on an address.
  package enum Verdict: Hashable, Sendable {
    case allowed
    /// The reason names the address and the option that would allow it.
    case refused(String)
  }

  /// Decides on an address. One in an allowed network is allowed. Otherwise it is refused when it is in a special network,
  /// or when an IPv4 address that it embeds is refused.
  package func verdict(for address: IPAddress) -> Verdict {
    guard let violation = violation(by: address) else { return .allowed }
    return .refused("\(reason(address, violation)); --allow-net \(violation.1.network) would allow it")
  }

  /// Why addresses of one host are refused, with the option that would allow them; `nil` when one of them is allowed, or
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
