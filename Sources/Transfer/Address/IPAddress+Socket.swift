import Glibc

extension IPAddress {
  /// `AF_INET` or `AF_INET6`.
  package var family: Int32 {
    switch self {
    case .v4: AF_INET
    case .v6: AF_INET6
    }
  }

  /// Calls a function with the address and a port as a `sockaddr` and its length, as `connect` takes them.
  package func withSocketAddress<Result>(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    switch self {
    case .v4(let number):
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = number.bigEndian
      return Self.withRebound(address, body)
    case .v6(let number):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      withUnsafeMutableBytes(of: &address.sin6_addr) { $0.storeBytes(of: number.bigEndian, as: UInt128.self) }
      return Self.withRebound(address, body)
    }
  }

  private static func withRebound<Address, Result>(
    _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
    }
  }
}
