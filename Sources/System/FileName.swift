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

  /// The name for a message. Escaped as `\x…`: bytes that are not UTF-8, and characters that could forge a line or change how
  /// others look: control characters, line separators, and those that change the direction of text.
  package var description: String {
    guard let text else { return ascii }
    if bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    return text.unicodeScalars.map(Self.shown).joined()
  }

  /// The name in ASCII: control characters and all bytes from 0x80 on are escaped as `\x…`. So the spellings of é stay different.
  package var ascii: String {
    bytes.map { UnicodeScalar($0) }.map { $0.value >= 0x80 ? Self.escaped($0) : Self.shown($0) }.joined()
  }

  private static func shown(_ scalar: UnicodeScalar) -> String {
    changesLines(scalar) ? escaped(scalar) : String(scalar)
  }

  private static func changesLines(_ scalar: UnicodeScalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl
    }
  }

  private static func escaped(_ scalar: UnicodeScalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return scalar.value > 0xff ? "\\u{\(digits)}" : "\\x" + (scalar.value < 0x10 ? "0" : "") + digits
  }
}

/// The kernel's notice about a name in a watched folder. A hint: the scan is the truth.
package enum FolderNotice: Sendable, Equatable {
  /// It was renamed in, or closed by its writer.
  case complete(FileName)
  /// It appeared or is being written.
  case begun(FileName)
  /// Notices were lost, or the folder itself was moved, removed or unmounted.
  case lost
}
