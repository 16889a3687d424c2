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
    var value = value
    value.withUTF8 { bytes in
      var start = 0
      for index in bytes.indices where !isPlain(bytes[index]) {
        guard let (escape, length) = escape(UnsafeBufferPointer(rebasing: bytes[index...])) else { continue }
        text += bytes[start..<index]
        text += escape.utf8
        start = index + length
      }
      text += bytes[start...]
    }
    text.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of UTF-8 is never escaped, whatever follows it. U+0080 to U+009F, which control some terminals, begin with C2,
  /// U+2028 and U+2029 with E2.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7f && byte != 0xc2
      && byte != 0xe2
  }

  /// The escape of the first character, and its length in bytes; nil when it is not escaped.
  private static func escape(_ bytes: UnsafeBufferPointer<UInt8>) -> (escape: String, length: Int)? {
    switch bytes[0] {
    case UInt8(ascii: "\""): return ("\\\"", 1)
    case UInt8(ascii: "\\"): return ("\\\\", 1)
    case UInt8(ascii: "\n"): return ("\\n", 1)
    case UInt8(ascii: "\r"): return ("\\r", 1)
    case UInt8(ascii: "\t"): return ("\\t", 1)
    case 0xc2:
      guard bytes.count >= 2, bytes[1] < 0xa0 else { return nil }
      return ("\\u00" + String(bytes[1], radix: 16), 2)
    case 0xe2:
      guard bytes.count >= 3, bytes[1] == 0x80, bytes[2] & 0xfe == 0xa8 else { return nil }
      return (bytes[2] == 0xa8 ? "\\u2028" : "\\u2029", 3)
    case let byte:
      let digits = String(byte, radix: 16)
      return ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits, 1)
    }
  }
}
