/// Finds numbers that are written with a decimal comma, as in `sepia(0,8)`.
enum DecimalComma {
  /// - Parameter arguments: The tokens between the parentheses of a function.
  /// - Returns: How the first of them is written; nil when there is none outside of functions within the arguments, such as
  ///   `rgb(1,2,3)`.
  static func hint(_ arguments: ArraySlice<CSSToken>) -> String? {
    var depth = 0
    for index in arguments.indices {
      switch arguments[index].kind {
      case .function: depth += 1
      case .rightParenthesis: depth -= 1
      case .number where depth == 0:
        if let number = number(arguments[index...].prefix(3)) { return "decimals are written with a point: \(number)" }
      default: break
      }
    }
    return nil
  }

  /// What two numbers with a comma and no space between them are meant to be.
  private static func number(_ tokens: ArraySlice<CSSToken>) -> String? {
    let tokens = Array(tokens)
    guard tokens.count == 3, tokens[1].kind == .comma, tokens[1].offset == end(of: tokens[0]),
      tokens[2].offset == end(of: tokens[1]), tokens[2].text.utf8.first.map({ (48...57).contains($0) }) == true,
      !tokens[0].text.contains(".")
    else { return nil }
    return "\(tokens[0].text).\(tokens[2].text)"
  }

  private static func end(of token: CSSToken) -> Int { token.offset + token.text.utf8.count }
}
