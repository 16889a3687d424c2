/// Splits Swift source into tokens. Comments and the contents of literals are dropped, the code in interpolations is kept.
///
/// It takes any text and never fails: a literal without an end stops at the end of its line or of the text.
struct SwiftLexer {
  private let text: [Unicode.Scalar]
  private var position = 0
  private var tokens: [SwiftToken] = []

  /// Words after which a slash begins a regular expression instead of dividing.
  private static let wordsBeforeValues: Set<String> = [
    "await", "case", "else", "guard", "if", "in", "return", "throw", "try", "where", "while",
  ]

  /// Operators whose characters on their own would mean something else: a bracket, or a dot before a member.
  private static let longOperators = ["->", "...", "..<"]

  private init(_ source: String) { text = Array(source.unicodeScalars) }

  static func tokens(of source: String) -> [SwiftToken] {
    var lexer = SwiftLexer(source)
    lexer.readCode(isInterpolation: false)
    return lexer.tokens
  }

  /// Reads to the end of the text, or up to the parenthesis that closes an interpolation.
  private mutating func readCode(isInterpolation: Bool) {
    var depth = 0
    while let scalar = peek() {
      if Self.isSpace(scalar) {
        position += 1
      } else if Self.isWordScalar(scalar) {
        readWord()
      } else if scalar == "/", peek(1) == "/" {
        skip { $0 != "\n" }
      } else if scalar == "/", peek(1) == "*" {
        readBlockComment()
      } else if scalar == "`" {
        readRawWord()
      } else if !readLiteral() {
        if scalar == ")", isInterpolation, depth == 0 { return }
        depth += scalar == "(" ? 1 : scalar == ")" ? -1 : 0
        readSymbol()
      }
    }
  }

  private mutating func readWord() {
    let start = position
    skip(while: Self.isWordScalar)
    let word = string(from: start)
    tokens.append(("0"..."9").contains(text[start]) ? .literal : .word(word))
  }

  private mutating func readRawWord() {
    position += 1
    let start = position
    skip { $0 != "`" && $0 != "\n" }
    tokens.append(.word(string(from: start)))
    position += 1
  }

  private mutating func readSymbol() {
    let symbol = Self.longOperators.first(where: follows) ?? String(Character(text[position]))
    position += symbol.unicodeScalars.count
    tokens.append(.symbol(symbol))
  }

  private mutating func readBlockComment() {
    var depth = 0
    repeat {
      if follows("/*") {
        depth += 1
        position += 2
      } else if follows("*/") {
        depth -= 1
        position += 2
      } else {
        position += 1
      }
    } while depth > 0 && position < text.count
  }

  // MARK: Literals

  /// Reads a string or a regular expression with its number signs, if one begins here.
  private mutating func readLiteral() -> Bool {
    var hashes = 0
    while peek(hashes) == "#" { hashes += 1 }
    switch peek(hashes) {
    case "\"":
      position += hashes
      readString(hashes: hashes)
    case "/":
      guard let end = regexEnd(hashes: hashes) else { return false }
      position = end
      tokens.append(.literal)
    default:
      return false
    }
    return true
  }

  private mutating func readString(hashes: Int) {
    tokens.append(.literal)
    let isMultiline = follows("\"\"\"") && restOfLineIsBlank(from: position + 3)
    let quotes = isMultiline ? "\"\"\"" : "\""
    position += quotes.count
    let end = quotes + String(repeating: "#", count: hashes)
    let escape = "\\" + String(repeating: "#", count: hashes)
    while let scalar = peek() {
      if scalar == "\"", follows(end) {
        position += end.count
        return
      } else if scalar == "\\", follows(escape) {
        position += escape.count
        if peek() == "(" { readInterpolation() } else { position += 1 }
      } else if scalar == "\n", !isMultiline {
        return
      } else {
        position += 1
      }
    }
  }

  private mutating func readInterpolation() {
    readSymbol()
    readCode(isInterpolation: true)
    if peek() != nil { readSymbol() }
  }

  /// Where the regular expression that begins here ends; nil when this slash is an operator.
  private func regexEnd(hashes: Int) -> Int? {
    if hashes == 0 {
      guard let next = peek(1), !Self.isSpace(next), next != ")", !followsValue else { return nil }
    }
    var end = position + hashes + 1
    while end < text.count {
      switch text[end] {
      case "\\": end += 1
      case "\n" where hashes == 0: return nil
      case "/" where (0..<hashes).allSatisfy({ peek(end + 1 + $0 - position) == "#" }): return end + 1 + hashes
      default: break
      }
      end += 1
    }
    return nil
  }

  /// Whether the last token ends a value, so that an operator may follow.
  private var followsValue: Bool {
    switch tokens.last {
    case .word(let word): !Self.wordsBeforeValues.contains(word)
    case .symbol(let symbol): [")", "]", "}", "?", "!"].contains(symbol)
    case .literal: true
    case nil: false
    }
  }

  // MARK: Text

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\n" || scalar == "\t" || scalar == "\r"
  }

  private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: scalar.value >= 0x80
    }
  }

  private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
    position + distance < text.count ? text[position + distance] : nil
  }

  private func follows(_ expected: String) -> Bool {
    var index = position
    for scalar in expected.unicodeScalars {
      guard index < text.count, text[index] == scalar else { return false }
      index += 1
    }
    return true
  }

  private func restOfLineIsBlank(from start: Int) -> Bool {
    text[min(start, text.count)...].first { $0 != " " && $0 != "\t" && $0 != "\r" } == "\n"
  }

  private mutating func skip(while condition: (Unicode.Scalar) -> Bool) {
    while position < text.count, condition(text[position]) { position += 1 }
  }

  private func string(from start: Int) -> String {
    var result = String.UnicodeScalarView()
    result.append(contentsOf: text[start..<position])
    return String(result)
  }
}
