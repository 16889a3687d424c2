/// A token of CSS Syntax Module Level 3 § 4, as far as filter lists need telling them apart.
struct CSSToken: Equatable {
  /// What it is.
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

  /// What it is.
  let kind: Kind
  /// The number of UTF-8 bytes before it.
  let offset: Int
  /// The token as it was written; `the end` for the end.
  let text: String
}
