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
    guard let (refused, special) = violation(by: address) else { return .allowed }
    let what = refused == address ? "\(address) is" : "\(address) embeds \(refused),"
    return .refused("\(what) \(special.kind); --allow-net \(special.network) would allow it")
  }

  /// Why addresses of one host are refused, each with the option that would allow it; `nil` when one of them is allowed, or
  /// there are none.
  func refusal(of addresses: [IPAddress]) -> String? {
    var reasons: [String] = []
    for address in addresses {
      guard case .refused(let reason) = verdict(for: address) else { return nil }
      if !reasons.contains(reason) { reasons.append(reason) }
    }
    return reasons.isEmpty ? nil : reasons.joined(separator: "; and ")
  }

  /// The address itself or the first one embedded in it that is refused, and its special network.
  private func violation(by address: IPAddress) -> (IPAddress, SpecialNetwork)? {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
    if let special = SpecialNetwork.all.first(where: { $0.network.contains(address) }) { return (address, special) }
    return address.embeddedAddresses.lazy.compactMap(violation).first
  }
}
