/// A name in a folder: any bytes but `/` and NUL.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The name as text; nil when it is not UTF-8.
  package var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The name for a message: what is not UTF-8, and control characters, as `\x…`.
  package var description: String {
    var shown = ""
    for scalar in (text ?? bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }.joined())
      .unicodeScalars
    {
      if scalar.value < 0x20 || scalar.value == 0x7f {
        shown += "\\x" + String(scalar.value, radix: 16)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
