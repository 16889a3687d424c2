/// Where a host is connected to.
package struct HostEndpoint: Sendable, Equatable {
  package enum Host: Sendable, Equatable {
    /// The host denotes an address; `localhost` denotes two.
    case addresses([IPAddress])
    /// A name to be resolved.
    case name(String)
  }

  package let host: Host
  package let port: UInt16

  /// - Returns: `nil` for a file.
  package init?(_ location: SourceLocation) {
    guard let port = location.port.flatMap(UInt16.init(exactly:)) else { return nil }
    self.port = port
    if let (name, _) = location.nameAndPort {
      host = .name(name)
    } else if let address = location.literalAddress {
      let isLocalhost = location.host?.lowercased().contains("localhost") == true
      host = .addresses([address] + (isLocalhost ? [.v6(1)] : []))
    } else {
      return nil
    }
  }
}
