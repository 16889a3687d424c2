/// A token of Swift source, as far as names need it.
enum SwiftToken: Hashable, Sendable {
  /// A name or a keyword, without backquotes.
  case word(String)
  /// A punctuation mark or one character of an operator; `->`, `...` and `..<` are one token.
  case symbol(String)
  /// A number, a string or a regular expression. The tokens of interpolations follow it, each in parentheses.
  case literal

  var isWord: Bool {
    if case .word = self { true } else { false }
  }

  /// The name of a type: a word that begins with a capital letter, which swift-format demands of types and forbids
  /// elsewhere.
  var typeName: String? {
    guard case .word(let text) = self, let first = text.unicodeScalars.first, first.properties.isUppercase else {
      return nil
    }
    return text
  }
}
