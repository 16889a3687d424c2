/// Writes lines of mdoc(7). Everything beyond ASCII becomes an escape.
struct MdocWriter {
  private var lines: [String] = []

  var text: String { lines.joined(separator: "\n") }

  /// Adds a macro with arguments in which nothing needs to be escaped.
  mutating func request(_ name: String, _ arguments: String...) { line(([name] + arguments).joined(separator: " ")) }

  /// Adds a line that begins with a macro.
  mutating func line(_ content: String) { lines.append("." + content) }

  /// Adds lines of text; text in backquotes is literal. A line ends where a sentence does.
  mutating func paragraph(_ text: String) {
    var line = ""
    var isLiteral = false
    for word in text.split(whereSeparator: \.isWhitespace) {
      var escaped = ""
      for (index, part) in word.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
        if index > 0 {
          isLiteral.toggle()
          escaped += isLiteral ? "\\fB" : "\\fR"
        }
        escaped += Self.escaped(part, isLiteral: isLiteral || part.hasPrefix("--"))
      }
      if line.isEmpty {
        line = escaped
      } else if line.count + 1 + escaped.count > 80 || (!isLiteral && line.hasSuffix(".") && !line.hasSuffix("..")) {
        lines.append(Self.protected(line))
        line = escaped
      } else {
        line += " " + escaped
      }
    }
    if !line.isEmpty { lines.append(Self.protected(line)) }
  }

  /// Adds lines that are shown verbatim.
  mutating func code(_ code: [String]) {
    line("Bd -literal -offset indent")
    lines += code.map { Self.protected(Self.escaped($0[...], isLiteral: true)) }
    line("Ed")
  }

  /// Words as arguments of a macro.
  static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).map { word(String($0)) }.joined(separator: " ")
  }

  /// A word as an argument of a macro: neither a macro nor punctuation.
  static func word(_ text: String) -> String {
    let escaped = Self.escaped(text[...], isLiteral: true).replacing("\"", with: "\\(dq")
    let isMacro = (1...3).contains(text.count) && text.first.map { $0.isUppercase || $0 == "%" } ?? false
    let isPunctuation = text.count == 1 && !text.allSatisfy { $0.isLetter || $0.isNumber }
    return (isMacro || isPunctuation ? "\\&" : "") + escaped
  }

  /// A line that cannot be taken for a macro.
  private static func protected(_ line: String) -> String {
    ".'".contains(line.prefix(1)) && !line.isEmpty ? "\\&" + line : line
  }

  private static func escaped(_ text: Substring, isLiteral: Bool) -> String {
    text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\\": return "\\e"
      case "…": return "..."
      case "-" where isLiteral: return "\\-"
      case "'" where isLiteral: return "\\(aq"
      case "`": return "\\(ga"
      case "^" where isLiteral: return "\\(ha"
      case "~" where isLiteral: return "\\(ti"
      default: return scalar.isASCII ? String(scalar) : "\\[u" + hexadecimal(scalar.value) + "]"
      }
    }.joined()
  }

  /// In four digits or more.
  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
