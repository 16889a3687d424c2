/// Splits a text into tokens by CSS Syntax Module Level 3 § 4.3. White space and comments are dropped: filter lists need
/// them only to separate tokens, and a function token includes its parenthesis.
struct CSSTokenizer {
  private let bytes: [UInt8]
  private var position = 0

  /// Creates a tokenizer at the beginning of a text.
  init(_ text: String) { bytes = Array(text.utf8) }

  /// Returns the next token; `.end` after the last, on every call.
  /// - Throws: `RecipeError` for an unterminated comment and for an escape without a character.
  mutating func next() throws(RecipeError) -> CSSToken {
    try skipBlanks()
    let start = position
    let kind = try consume()
    let text = kind == .end ? "the end" : String(decoding: bytes[start..<position], as: UTF8.self)
    return CSSToken(kind: kind, offset: start, text: text)
  }

  private mutating func consume() throws(RecipeError) -> CSSToken.Kind {
    guard let byte = peek() else { return .end }
    if startsNumber() { return try consumeNumeric() }
    if startsIdentifier() {
      let name = try consumeName()
      guard peek() == UInt8(ascii: "(") else { return .identifier(name) }
      position += 1
      return .function(name)
    }
    switch byte {
    case UInt8(ascii: "#") where peek(1).map { isNameByte($0) || $0 == UInt8(ascii: "\\") } == true:
      position += 1
      return .hash(try consumeName())
    case UInt8(ascii: ","):
      position += 1
      return .comma
    case UInt8(ascii: ")"):
      position += 1
      return .rightParenthesis
    default: return .delimiter(consumeScalar())
    }
  }

  private mutating func consumeNumeric() throws(RecipeError) -> CSSToken.Kind {
    let start = position
    if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
    skipDigits()
    if peek() == UInt8(ascii: "."), isDigit(peek(1)) {
      position += 1
      skipDigits()
    }
    if peek().map({ $0 | 0x20 }) == UInt8(ascii: "e") {
      let signed = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
      if isDigit(peek(signed ? 2 : 1)) {
        position += signed ? 2 : 1
        skipDigits()
      }
    }
    let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)) ?? 0
    if peek() == UInt8(ascii: "%") {
      position += 1
      return .percentage(value)
    }
    guard startsIdentifier() else { return .number(value) }
    return .dimension(value, unit: try consumeName().lowercased())
  }

  /// Consumes a name and replaces its escapes (§ 4.3.7, § 4.3.11).
  private mutating func consumeName() throws(RecipeError) -> String {
    var name: [UInt8] = []
    while let byte = peek() {
      if isNameByte(byte) {
        name.append(byte)
        position += 1
      } else if byte == UInt8(ascii: "\\") {
        name.append(contentsOf: String(try consumeEscape()).utf8)
      } else {
        break
      }
    }
    return String(decoding: name, as: UTF8.self)
  }

  private mutating func consumeEscape() throws(RecipeError) -> Character {
    let start = position
    position += 1
    var value: UInt32 = 0
    var digits = 0
    while digits < 6, let byte = peek(), let digit = Character(UnicodeScalar(byte)).hexDigitValue {
      value = value * 16 + UInt32(digit)
      digits += 1
      position += 1
    }
    if digits > 0 {
      if let byte = peek(), isBlank(byte) { position += 1 }
      return Character(UnicodeScalar(value).flatMap { $0 == "\0" ? nil : $0 } ?? "\u{FFFD}")
    }
    guard let byte = peek(), !isNewline(byte) else { throw RecipeError("nothing follows the escape \\", at: start) }
    return consumeScalar()
  }

  /// Consumes one code point (§ 4.3.1).
  private mutating func consumeScalar() -> Character {
    let scalar = String(decoding: bytes[position...].prefix(4), as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    position = min(position + scalar.utf8.count, bytes.count)
    return Character(scalar)
  }

  private mutating func skipBlanks() throws(RecipeError) {
    while let byte = peek() {
      if isBlank(byte) {
        position += 1
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        let start = position
        position += 2
        while peek() != UInt8(ascii: "*") || peek(1) != UInt8(ascii: "/") {
          guard peek() != nil else { throw RecipeError("the comment does not end: */ is missing", at: start) }
          position += 1
        }
        position += 2
      } else {
        return
      }
    }
  }

  private mutating func skipDigits() {
    while isDigit(peek()) { position += 1 }
  }

  private func startsNumber() -> Bool {
    var ahead = 0
    if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { ahead = 1 }
    return isDigit(peek(ahead)) || peek(ahead) == UInt8(ascii: ".") && isDigit(peek(ahead + 1))
  }

  private func startsIdentifier() -> Bool {
    guard let byte = peek() else { return false }
    if byte == UInt8(ascii: "-") {
      guard let second = peek(1) else { return false }
      return second == UInt8(ascii: "-") || isNameStart(second) || second == UInt8(ascii: "\\")
    }
    return isNameStart(byte) || byte == UInt8(ascii: "\\")
  }

  private func peek(_ ahead: Int = 0) -> UInt8? { position + ahead < bytes.count ? bytes[position + ahead] : nil }

  private func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
  }

  private func isNewline(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0C || byte == 0x0D }

  private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || isNewline(byte) }

  private func isNameStart(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80 || byte == UInt8(ascii: "_")
      || byte >= 0x80
  }

  private func isNameByte(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) || byte == UInt8(ascii: "-") }
}

/// A token of CSS Syntax Module Level 3 § 4. Tokens that filter lists do not use are delimiters.
struct CSSToken: Equatable {
  enum Kind: Equatable {
    /// A name followed by `(`.
    case function(String)
    case identifier(String)
    case number(Double)
    /// A number followed by `%`; 80 for `80%`.
    case percentage(Double)
    /// A number followed by a unit, in lower case.
    case dimension(Double, unit: String)
    /// `#` followed by a name: the name.
    case hash(String)
    /// `,`
    case comma
    /// `)`
    case rightParenthesis
    /// Any other character.
    case delimiter(Character)
    case end
  }

  let kind: Kind
  /// The number of UTF-8 bytes before the token.
  let offset: Int
  /// The token as written; `the end` for the end.
  let text: String
}

extension Double {
  /// The shortest CSS number with this value: `0.8`, `1`, `1e-07`.
  var cssText: String {
    let text = description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
