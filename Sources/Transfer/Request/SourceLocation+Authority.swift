import CCurl
import Glibc

/// Host and port as rules for hosts compare them.
extension SourceLocation {
  /// The port of a web URL, its scheme's when it names none; `nil` for files.
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

  /// Host, port and path as messages name what a redirect leads to, without the query, which may be long or hold a
  /// signature.
  var hostAndPath: String {
    guard let url = try? URLHandle(parsing: requestText) else { return host ?? "" }
    let port = url.part(CURLUPART_PORT).map { ":" + $0 } ?? ""
    return (url.part(CURLUPART_HOST) ?? "") + port + (url.part(CURLUPART_PATH) ?? "")
  }

  /// The host as it is resolved: in lower case, IPv6 in brackets, IPv4 as four octets, names beyond ASCII in their ACE form
  /// (RFC 5890), without a dot at the end. `nil` for files.
  package var canonicalHost: String? {
    guard var host else { return nil }
    if !host.utf8.allSatisfy({ $0 < 0x80 }), let url = try? URLHandle(parsing: requestText) {
      _ = Self.setEncoding
      host = url.part(CURLUPART_HOST, flags: CURLU_PUNYCODE)?.lowercased() ?? host
    }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// libcurl expects host names in the locale's encoding; rules are read before the first transfer sets it.
  private static let setEncoding: Void = { _ = setlocale(LC_CTYPE, "C.UTF-8") }()

  /// The canonical form of a host, such as `hostName(of:)` returns.
  /// - Returns: `nil` for a text that is no host.
  package static func canonicalHost(of name: String) -> String? {
    if isPlainName(name) { return name.hasSuffix(".") ? String(name.dropLast()) : name }
    return (try? SourceLocation(parsing: "http://\(name)/"))?.canonicalHost
  }

  /// Whether a name is in its canonical form but for a dot at the end: its last label begins with a letter, so that it is
  /// no address.
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
}
