/// A token of CSS Syntax Module Level 3 § 4. Tokens that filter lists do not use are delimiters.
struct CSSToken: Equatable {
  /// The kinds of tokens.
  enum Kind: Equatable {
    /// A name followed by `(`.
    case function(String)
    /// A name.
    case identifier(String)
    /// A number without a unit.
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
    /// The end of the text.
    case end
  }

  /// The kind, with its value.
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
