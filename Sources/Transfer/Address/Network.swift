import System

/// A range of addresses in CIDR notation.
package struct Network: Hashable, Sendable, CustomStringConvertible {
  /// The first address of the range.
  package let address: IPAddress

  /// The number of leading bits that are common to the range: 0…32, or 0…128 for IPv6.
  package let prefixLength: Int

  /// Parses `127.0.0.0/8`, `fd00::/8`, or a single address, which is a range of one. Bits beyond the prefix are ignored.
  /// - Throws: `ParseError` for anything else.
  package init(parsing text: some StringProtocol) throws(ParseError) {
    let problem = ParseError("\"\(text)\" is not a network such as 127.0.0.0/8 or fd00::/8")
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2, let address = IPAddress(first) else { throw problem }
    var length = address.bitWidth
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[1]), number <= length else {
        throw problem
      }
      length = number
    }
    self.init(address, length)
  }

  private init(_ address: IPAddress, _ prefixLength: Int) {
    self.prefixLength = prefixLength
    self.address =
      switch address {
      case .v4(let number): .v4(number & ~(prefixLength == 0 ? .max : (1 << (32 - UInt32(prefixLength))) &- 1))
      case .v6(let number): .v6(number & ~(prefixLength == 0 ? .max : (1 << (128 - UInt128(prefixLength))) &- 1))
      }
  }

  /// A range in the source code. Ends the program when it is malformed.
  init(_ text: StaticString) {
    do {
      try self.init(parsing: text.description)
    } catch {
      preconditionFailure(error.message)
    }
  }

  /// Whether the address is in the range. An IPv4 address is never in an IPv6 range.
  package func contains(_ other: IPAddress) -> Bool {
    switch (address, other) {
    case (.v4, .v4), (.v6, .v6): Network(other, prefixLength).address == address
    default: false
    }
  }

  /// Whether all addresses of another range are in this one.
  package func contains(_ other: Network) -> Bool {
    other.prefixLength >= prefixLength && contains(other.address)
  }

  package var description: String { "\(address)/\(prefixLength)" }
}
