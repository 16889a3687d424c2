extension SourceLocation {
  /// The host of an http or https URL, in lower case, with its port unless that is the scheme's own: which entries use the
  /// same server. A hundred times as fast as parsing the URL; one host may have several spellings.
  /// - Returns: `nil` for files and for texts without a host.
  package static func hostName(of text: String) -> String? {
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

  /// The port in a name that `hostName(of:)` has returned. Default: `nil`, it is the scheme's own.
  package static func port(ofHostName name: String) -> Int? {
    guard let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") else { return nil }
    return Int(name[name.index(after: colon)...])
  }

  /// The delimiters that end a URL's authority.
  private static let authorityEnds = Array("/?#\\".utf8)
}
