extension IPAddress {
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
