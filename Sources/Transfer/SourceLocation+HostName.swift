extension SourceLocation {
  /// The host that a text names if it is an http or https URL, in lower case: read without parsing the URL, a hundred
  /// times as fast, to tell which entries wait for the same server. One host may have several spellings.
  /// - Returns: nil for files and for what names no host.
  package static func hostName(of text: String) -> String? {
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    switch text[..<colon].lowercased() {
    case "http", "https": break
    default: return nil
    }
    let afterScheme = bytes[bytes.index(colon, offsetBy: 3)...]
    let authority = afterScheme.prefix { !ends.contains($0) }
    let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
    let isBracketed = host.first == UInt8(ascii: "[")
    let name = host.prefix { $0 != UInt8(ascii: isBracketed ? "]" : ":") }
    return name.isEmpty ? nil : String(decoding: name, as: UTF8.self).lowercased() + (isBracketed ? "]" : "")
  }

  /// What ends a URL's authority.
  private static let ends = Array("/?#\\".utf8)
}
