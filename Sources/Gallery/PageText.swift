enum PageText {
  /// Appends JSON for use in a `script` element. Escapes `<`, `>` and `&`, so that the element cannot be closed, and
  /// U+2028 and U+2029. In JSON these occur only in strings.
  static func append(json: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
    var start = 0
    var index = 0
    while index < json.count {
      let byte = json[index]
      guard isSpecial[Int(byte)] else {
        index += 1
        continue
      }
      guard let (replacement, length) = escape(json, index, byte) else {
        index += 1
        continue
      }
      text += json[start..<index]
      text += replacement.utf8
      index += length
      start = index
    }
    text += json[start..<json.count]
  }

  static func append(json: String, to text: inout [UInt8]) {
    var json = json
    json.withUTF8 { append(json: $0, to: &text) }
  }

  private static let isSpecial: [Bool] = (0..<256).map { [0x26, 0x3c, 0x3e, 0xe2].contains($0) }

  /// - Returns: The escape of a character, and the character's length in UTF-8; nil when it need not be escaped.
  private static func escape(
    _ json: UnsafeBufferPointer<UInt8>, _ index: Int, _ byte: UInt8
  ) -> (String, length: Int)? {
    switch byte {
    case 0x26: return (#"\u0026"#, 1)
    case 0x3c: return (#"\u003c"#, 1)
    case 0x3e: return (#"\u003e"#, 1)
    default:
      guard index + 2 < json.count, json[index + 1] == 0x80 else { return nil }
      switch json[index + 2] {
      case 0xa8: return (#"\u2028"#, 3)
      case 0xa9: return (#"\u2029"#, 3)
      default: return nil
      }
    }
  }

  /// Escapes a text for an HTML element.
  static func html(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Encodes a relative path for a link: all bytes but letters, digits and `-._~` of each component are percent-encoded
  /// (RFC 3986, section 2.3).
  static func link(_ path: String) -> String {
    var link = ""
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x2f, 0x5f, 0x7e:
        link.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        link += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
      }
    }
    return link
  }

  /// Replaces the URLs in a text by their schemes.
  static func withoutURLs(_ text: String) -> String {
    guard text.contains(":") else { return text }
    return text.replacing(/([A-Za-z][A-Za-z0-9+.\-]*):\/\/[^\s"<>]*/) { "\($0.1)://…" }
      .replacing(/(?i:\b(data|file|blob)):[^\s"<>\/…][^\s"<>]*/) { "\($0.1):…" }
  }
}
