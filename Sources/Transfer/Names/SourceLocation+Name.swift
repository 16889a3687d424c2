import CCurl

extension SourceLocation {
  /// The name that a resolver is asked for, in lower case and ASCII (RFC 5891), and the port. `nil` for files and for
  /// hosts that denote an address.
  var nameAndPort: (name: String, port: String)? {
    // Most hosts that are addresses are found without parsing the URL once more.
    guard let host, !host.hasPrefix("["), IPAddress(host) == nil, literalAddress == nil,
      let url = try? URLHandle(parsing: requestText),
      let name = url.part(CURLUPART_HOST, flags: CURLU_PUNYCODE),
      let port = url.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT)
    else { return nil }
    return (name.lowercased(), port)
  }
}
