/// The text of a `<key>` of an XML property list, with what stands for characters resolved, so that keys can be
/// compared. Whether it is in order is left to Foundation.
struct XMLPropertyListKey {
  /// What comes later does not tell keys apart. A key that is never closed must not take the rest of the file, again
  /// and again.
  static let limit = 64 << 10

  private let bytes: ArraySlice<UInt8>

  /// - Parameter bytes: From the tag's `<` on.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var text: String {
    guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return "" }
    var rest = bytes[(end + 1)...].prefix(Self.limit)
    var text: [UInt8] = []
    // An empty element, <key/>, has none.
    while bytes[end - 1] != UInt8(ascii: "/"), let byte = rest.first {
      if rest.starts(with: "<![CDATA[".utf8) {
        rest = rest.dropFirst(9)
        while !rest.isEmpty, !rest.starts(with: "]]>".utf8) { text.append(rest.removeFirst()) }
        rest = rest.dropFirst(3)
      } else if byte == UInt8(ascii: "<") {
        break
      } else if byte == UInt8(ascii: "&"), let scalar = Self.scalar(rest) {
        text += Array(String(scalar).utf8)
        rest = rest.drop { $0 != UInt8(ascii: ";") }.dropFirst()
      } else {
        text.append(rest.removeFirst())
      }
    }
    // What is not UTF-8 is Latin-1, or will be refused.
    return String(validating: text, as: UTF8.self) ?? String(String.UnicodeScalarView(text.map { UnicodeScalar($0) }))
  }

  /// What `&…;` stands for; nil when it is nothing known.
  private static func scalar(_ rest: ArraySlice<UInt8>) -> UnicodeScalar? {
    let name = String(decoding: rest.dropFirst().prefix(10).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    case _ where name.hasPrefix("#x"): return UInt32(name.dropFirst(2), radix: 16).flatMap(UnicodeScalar.init)
    case _ where name.hasPrefix("#"): return UInt32(name.dropFirst()).flatMap(UnicodeScalar.init)
    default: return nil
    }
  }
}
