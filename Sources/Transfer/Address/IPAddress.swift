import Glibc

/// An IPv4 or IPv6 address, as a number in host order.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
  case v4(UInt32)
  case v6(UInt128)

  /// Parses what `inet_pton` accepts: four decimal octets, or IPv6 without brackets and scope. `nil` for anything else.
  package init?(_ text: some StringProtocol) {
    let text = String(text)
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self = .v4(UInt32(bigEndian: four.s_addr))
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      self.init(six)
    } else {
      return nil
    }
  }

  /// The address in a `sockaddr`; `nil` when it is neither IPv4 nor IPv6, or too short.
  init?(_ address: UnsafeRawPointer, length: Int) {
    guard length >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      self = .v4(UInt32(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      self.init(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
    default:
      return nil
    }
  }

  private init(_ address: in6_addr) {
    self = .v6(withUnsafeBytes(of: address) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) })
  }

  /// The number of bits: 32 or 128.
  var bitWidth: Int {
    switch self {
    case .v4: 32
    case .v6: 128
    }
  }

  /// The canonical text (`inet_ntop`).
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch self {
    case .v4(let number):
      withUnsafeBytes(of: number.bigEndian) { _ = inet_ntop(AF_INET, $0.baseAddress, &text, socklen_t(text.count)) }
    case .v6(let number):
      withUnsafeBytes(of: number.bigEndian) { _ = inet_ntop(AF_INET6, $0.baseAddress, &text, socklen_t(text.count)) }
    }
    return text.withUnsafeBufferPointer { buffer in buffer.baseAddress.map { String(cString: $0) } ?? "" }
  }

  /// The IPv4 addresses that an IPv6 address embeds: a packet sent to it may be delivered to any of them.
  ///
  /// Forms: IPv4-mapped `::ffff:0:0/96` and IPv4-compatible `::/96` (RFC 4291), IPv4-translated `::ffff:0:0:0/96`
  /// (RFC 2765), NAT64 `64:ff9b::/96` (RFC 6052), 6to4 `2002::/16` (RFC 3056), and Teredo `2001::/32`, which holds its
  /// server's address and its client's, inverted (RFC 4380). Empty for all other addresses.
  var embeddedAddresses: [IPAddress] {
    guard case .v6(let number) = self else { return [] }
    let tail = UInt32(truncatingIfNeeded: number)
    switch number >> 32 {
    case 0, 0xffff, 0xffff_0000, 0x64_ff9b << 64: return [.v4(tail)]
    default: break
    }
    if number >> 112 == 0x2002 { return [.v4(UInt32(truncatingIfNeeded: number >> 80))] }
    if number >> 96 == 0x2001_0000 { return [.v4(UInt32(truncatingIfNeeded: number >> 64)), .v4(~tail)] }
    return []
  }
}
