/// Decides which addresses may be connected to: public ones, and those of networks that were allowed.
package struct AddressPolicy: Sendable {
  /// Networks that are open although they are special (`--allow-net`). Default: none.
  package var allowedNetworks: [Network]

  /// Creates a policy.
  package init(allowing allowedNetworks: [Network] = []) {
    self.allowedNetworks = allowedNetworks
  }

  /// What the policy says of an address.
  package enum Verdict: Hashable, Sendable {
    case allowed
    /// The reason names the address and the option that would allow it.
    case refused(String)
  }

  /// Judges an address. One that lies in an allowed network is open. Otherwise it is refused when it lies in a special
  /// network, or when an IPv4 address that it embeds is refused.
  package func verdict(for address: IPAddress) -> Verdict {
    guard let (culprit, special) = objection(to: address) else { return .allowed }
    let what = culprit == address ? "\(address) is" : "\(address) embeds \(culprit),"
    return .refused("\(what) \(special.kind); --allow-net \(special.network) would allow it")
  }

  /// The address itself or the first one embedded in it that is refused, and the network that it lies in.
  private func objection(to address: IPAddress) -> (IPAddress, SpecialNetwork)? {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
    if let special = SpecialNetwork.all.first(where: { $0.network.contains(address) }) { return (address, special) }
    return address.embeddedAddresses.lazy.compactMap(objection).first
  }
}
