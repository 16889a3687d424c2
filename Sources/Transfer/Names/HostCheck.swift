import System

/// Whether the addresses of a host's name may be connected to.
package enum HostCheck: Sendable, Equatable {
  /// The addresses, with commas.
  case allowed(String)
  /// Why all are refused.
  case refused(String)
  /// Why none is known.
  case unknown(String)

  /// Asks the system's resolver, which takes up to a minute.
  /// - Parameter name: A name or a literal address.
  package init(_ name: String, policy: AddressPolicy) {
    let literal = IPAddress(name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name)
    switch literal.map({ .addresses([$0]) }) ?? NameLookup(system: name) {
    case .addresses(let addresses):
      self =
        policy.refusal(of: addresses).map { .refused($0) }
        ?? .allowed(addresses.map(\.description).joined(separator: ", "))
    case .notFound: self = .unknown("there is no host of this name, or it has no address")
    case .failed(let why): self = .unknown(why)
    case .exhausted(let number): self = .unknown(systemMessage(number))
    }
  }
}
