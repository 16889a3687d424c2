import System
import CCurl
import Glibc

/// Host and port in the form that rules for hosts compare.
extension SourceLocation {
  /// The port of a web URL, by default its scheme's; `nil` for files.
  package var port: Int? {
    let standard: Int
    switch scheme {
    case .http: standard = 80
    case .https: standard = 443
    case .file: return nil
    }
    let bytes = requestText.utf8
    let authority = bytes.dropFirst(scheme.rawValue.utf8.count + 3).prefix { $0 != UInt8(ascii: "/") }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
    let name = host.lastIndex(of: UInt8(ascii: "]")).map { host[host.index(after: $0)...] } ?? host
    guard let colon = name.lastIndex(of: UInt8(ascii: ":")) else { return standard }
    return Int(String(decoding: name[name.index(after: colon)...], as: UTF8.self)) ?? standard
  }

  /// Host, port and path of a redirect's target for messages, without the query, which may be long or contain a
  /// signature.
  var hostAndPath: String {
    guard let url = try? URLHandle(parsing: requestText) else { return host ?? "" }
    let port = url.part(CURLUPART_PORT).map { ":" + $0 } ?? ""
    return (url.part(CURLUPART_HOST) ?? "") + port + (url.part(CURLUPART_PATH) ?? "")
  }

  /// The host as resolved: in lower case, IPv6 in brackets, IPv4 as four octets, names beyond ASCII in their ACE form (RFC 5890),
  /// without a dot at the end. `nil` for files.
  package var canonicalHost: String? {
    guard var host else { return nil }
    if !host.utf8.allSatisfy({ $0 < 0x80 }), let url = try? URLHandle(parsing: requestText) {
      _ = ProcessLocale.setUTF8
      host = url.part(CURLUPART_HOST, flags: CURLU_PUNYCODE)?.lowercased() ?? host
    }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// The canonical form of a host, such as `hostName(of:)` returns.
  /// - Returns: `nil` for a text that is not a host.
  package static func canonicalHost(of name: String) -> String? {
    if isPlainName(name) { return name.hasSuffix(".") ? String(name.dropLast()) : name }
    return (try? SourceLocation(parsing: "http://\(name)/"))?.canonicalHost
  }

  /// Whether a name is in its canonical form except for a dot at the end: its last label begins with a letter, so that it is
  /// not an address.
  private static func isPlainName(_ name: String) -> Bool {
    var (label, isPlain) = (UInt8(ascii: "."), true)
    var previous = UInt8(ascii: ".")
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        if previous == UInt8(ascii: ".") { label = byte }
      case UInt8(ascii: "."): if previous == byte { isPlain = false }
      default: return false
      }
      previous = byte
    }
    return isPlain && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(label)
  }

  /// The host of an http or https URL, in lower case, with its port unless that is the scheme's own. Takes a small part of the time of parsing by libcurl; one host may have several spellings.
  /// - Returns: `nil` for files and for texts without a host.
  package static func hostName(of text: String) -> String? {
    if let url = PlainURL(text) {
      guard let port = url.port, port != (url.scheme == .https ? 443 : 80) else { return url.host }
      return "\(url.host):\(port)"
    }
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    let usualPort: Int
    switch text[..<colon].lowercased() {
    case "http": usualPort = 80
    case "https": usualPort = 443
    default: return nil
    }
    let afterScheme = bytes[bytes.index(colon, offsetBy: 3)...]
    let authority = afterScheme.prefix { !authorityEnds.contains($0) }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
    let isBracketed = host.first == UInt8(ascii: "[")
    let name = host.prefix { $0 != UInt8(ascii: isBracketed ? "]" : ":") }
    guard !name.isEmpty else { return nil }
    let canonical = String(decoding: name, as: UTF8.self).lowercased() + (isBracketed ? "]" : "")
    let rest = host.dropFirst(name.count + (isBracketed ? 1 : 0))
    guard rest.first == UInt8(ascii: ":"), let port = Int(String(decoding: rest.dropFirst(), as: UTF8.self)),
      port != usualPort
    else { return canonical }
    return "\(canonical):\(port)"
  }

  /// The origin of an http or https URL (RFC 6454), `SCHEME://NAME` or `SCHEME://NAME:PORT`: what limits and failures of hosts
  /// are counted by. The same host over http and https is two servers, of which one may be missing.
  /// - Returns: `nil` for files and for texts without a host.
  package static func origin(of text: String) -> String? {
    guard let name = hostName(of: text) else { return nil }
    return (text.prefix(while: { $0 != ":" }).utf8.count == 5 ? "https://" : "http://") + name
  }

  /// The root of a host.
  /// - Parameter origin: As `origin(of:)` returns it, or without a scheme, which then is http.
  package init(origin: String) throws(TransferError) {
    try self.init(parsing: (origin.contains("://") ? origin : "http://" + origin) + "/")
  }

  /// Whether the port of a URL is its scheme's own.
  package var hasUsualPort: Bool { port == (scheme == .https ? 443 : 80) }

  /// The delimiters that end a URL's authority.
  private static let authorityEnds = Array("/?#\\".utf8)

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

  /// Whether the host is `localhost` or a name below it: the machine itself, whatever a resolver reports.
  var isLocalName: Bool {
    guard var name = host?[...] else { return false }
    while name.hasSuffix(".") { name.removeLast() }
    return name == "localhost" || name.hasSuffix(".localhost")
  }
}
