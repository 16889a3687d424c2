/// Reads a `<filter-value-list>` of Filter Effects Module Level 1 § 5, or `none`. What CSS calls a parse error and then
/// mends (a parenthesis or comment without an end) is refused: in a manifest it is a text that was cut.
struct RecipeParser {
  private var tokens: ArraySlice<CSSToken>
  private let end: CSSToken

  /// A parser of a text.
  /// - Throws: what the tokenizer throws.
  init(_ text: String) throws(RecipeError) {
    var tokenizer = CSSTokenizer(text)
    var tokens: [CSSToken] = []
    var token = try tokenizer.next()
    while token.kind != .end {
      tokens.append(token)
      token = try tokenizer.next()
    }
    self.tokens = tokens[...]
    end = token
  }

  /// The filters in their order; empty for `none`.
  mutating func parse() throws(RecipeError) -> [any FilterFunction] {
    guard let first = tokens.first else { throw RecipeError("the recipe is empty; write none for no filters", at: 0) }
    if case .identifier(let name) = first.kind, name.lowercased() == "none" {
      tokens.removeFirst()
      if let next = tokens.first { throw RecipeError("none stands alone, found \(next.text)", at: next.offset) }
      return []
    }
    var filters: [any FilterFunction] = []
    while let token = tokens.popFirst() {
      filters.append(try filter(token))
    }
    return filters
  }

  private mutating func filter(_ token: CSSToken) throws(RecipeError) -> any FilterFunction {
    switch token.kind {
    case .function(let name):
      let kind = try FilterRegistry.function(named: name, at: token.offset)
      guard let close = closingParenthesis else {
        throw RecipeError("\(kind.name)( is not closed: ) is missing", at: end.offset)
      }
      var arguments = ArgumentReader(function: kind.name, end: tokens[close].offset, tokens: tokens[..<close])
      tokens = tokens[(close + 1)...]
      let filter = try kind.init(arguments: &arguments)
      try arguments.finish()
      return filter
    case .identifier(let name) where name.lowercased() == "none":
      throw RecipeError("none stands alone", at: token.offset)
    case .identifier(let name):
      // Refuses unknown names first; a known one lacks its parentheses.
      let kind = try FilterRegistry.function(named: name, at: token.offset)
      throw RecipeError("\(kind.name) needs parentheses: \(kind.name)()", at: token.offset)
    case .comma:
      throw RecipeError("filters are separated by spaces, not by commas", at: token.offset)
    default:
      throw RecipeError("expected a filter such as sepia(0.8), found \(token.text)", at: token.offset)
    }
  }

  /// Where the function that has been opened ends; functions within it have ends of their own.
  private var closingParenthesis: Int? {
    var depth = 0
    return tokens.firstIndex { token in
      if case .function = token.kind { depth += 1 }
      if token.kind == .rightParenthesis { depth -= 1 }
      return depth < 0
    }
  }
}
