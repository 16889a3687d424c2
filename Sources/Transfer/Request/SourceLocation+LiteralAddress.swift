import CCurl
import Glibc

extension SourceLocation {
  /// The address that the host denotes without a resolver: IPv6, IPv4 in any spelling of `inet_aton` (decimal, octal,
  /// hexadecimal, short), in digits of any script, and `localhost` (RFC 6761). `nil` for other names.
  var literalAddress: IPAddress? {
    guard scheme != .file, let url = try? URLHandle(parsing: requestText),
      var host = url.part(CURLUPART_HOST, flags: CURLU_PUNYCODE) ?? host
    else { return nil }
    host = host.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") {
      let inside = host.dropFirst().dropLast()
      return IPAddress(inside.prefix { $0 != "%" })
    }
    while host.hasSuffix(".") { host.removeLast() }
    if isLocalName { return .v4(0x7f00_0001) }
    var address = in_addr()
    return inet_aton(host, &address) == 1 ? .v4(UInt32(bigEndian: address.s_addr)) : nil
  }

  /// Whether the host is `localhost` or a name below it: the machine itself, whatever a resolver says.
  var isLocalName: Bool {
    guard var name = host?[...] else { return false }
    while name.hasSuffix(".") { name.removeLast() }
    return name == "localhost" || name.hasSuffix(".localhost")
  }
}
