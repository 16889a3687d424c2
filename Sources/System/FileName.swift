/// A name in a folder: any bytes but `/` and NUL.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Strings that are equal in Swift may be different names: é has two spellings.
  package init(_ text: String) { bytes = Array(text.utf8) }

  /// The name as text; nil when it is not UTF-8.
  package var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Calls a function of C with the name.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { raw in
      raw.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map(body) ?? body("")  // never: there is the NUL
      }
    }
  }

  /// The name for a message: what is not UTF-8, and control characters, as `\x…`.
  package var description: String {
    let scalars = text.map { Array($0.unicodeScalars) } ?? bytes.map { UnicodeScalar($0) }
    return scalars.map { scalar in
      let isControl = scalar.properties.generalCategory == .control
      return isControl || (text == nil && scalar.value >= 0x80) ? Self.escaped(scalar) : String(scalar)
    }.joined()
  }

  private static func escaped(_ scalar: UnicodeScalar) -> String {
    "\\x" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
  }
}
