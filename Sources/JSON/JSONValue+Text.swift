extension JSONValue {
  /// The value as JSON on one line, without spaces. Numbers are the shortest text that reads back as the same number
  /// (jansson, the parser, would write all 17 digits); one that JSON cannot express is null.
  package var text: String {
    var text: [UInt8] = []
    text.reserveCapacity(1024)
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private func write(to text: inout [UInt8]) {
    switch self {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .integer(let value): text += String(value).utf8
    case .number(let value): text += (value.isFinite ? value.description : "null").utf8
    case .string(let value): Self.quote(value, to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (position, value) in values.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        value.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (position, member) in members.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        Self.quote(member.key, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  private static func quote(_ value: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    var contiguous = value
    contiguous.withUTF8 { bytes in
      if bytes.allSatisfy(isPlain) { text += bytes } else { escape(value, to: &text) }
    }
    text.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of UTF-8 is never escaped, whatever surrounds it. U+2028 and U+2029 begin with E2.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7f && byte != 0xe2
  }

  private static func escape(_ value: String, to text: inout [UInt8]) {
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\"".utf8
      case "\\": text += "\\\\".utf8
      case "\n": text += "\\n".utf8
      case "\r": text += "\\r".utf8
      case "\t": text += "\\t".utf8
      case _ where scalar.value < 0x20 || scalar.value == 0x7f || scalar.value == 0x2028 || scalar.value == 0x2029:
        let digits = String(scalar.value, radix: 16)
        text += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      default: text += String(scalar).utf8
      }
    }
  }
}
