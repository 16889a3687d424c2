/// Parses a `<filter-value-list>` of Filter Effects Module Level 1 § 5, or `none`. Parse errors from which CSS recovers
/// (an unterminated parenthesis or comment) are errors: in a manifest they mean that the text was truncated.
struct RecipeParser {
  private var tokens: ArraySlice<CSSToken>
  private let end: CSSToken

  /// The names of all recipes, in lower case, for messages.
  private let recipeNames: () -> [String]

  /// The largest number of functions in a recipe.
  static let maxFunctions = 64

  /// Creates a parser of a text.
  /// - Parameter recipeNames: The names of all recipes, in lower case, for messages.
  /// - Throws: the tokenizer's errors.
  init(_ text: String, recipeNames: @escaping () -> [String]) throws(RecipeError) {
    var tokenizer = CSSTokenizer(text)
    var tokens: [CSSToken] = []
    var token = try tokenizer.next()
    while token.kind != .end {
      tokens.append(token)
      token = try tokenizer.next()
    }
    self.tokens = tokens[...]
    (end, self.recipeNames) = (token, recipeNames)
  }

  /// Returns the filters in order; none for `none`.
  /// - Parameter named: The recipe that a name stands for; nil when there is none.
  /// - Throws: `RecipeError` for the first error, and when there are more than `maxFunctions` functions.
  mutating func parse(_ named: (String) throws(RecipeError) -> Recipe?) throws(RecipeError) -> [any FilterFunction] {
    guard let first = tokens.first else { throw RecipeError("the recipe is empty; write none for no filters", at: 0) }
    if case .identifier(let name) = first.kind, name.lowercased() == "none" {
      tokens.removeFirst()
      if let next = tokens.first { throw RecipeError("none stands alone, found \(next.text)", at: next.offset) }
      return []
    }
    try checkCount()
    var filters: [any FilterFunction] = []
    while let token = tokens.popFirst() {
      if case .identifier(let name) = token.kind, let recipe = try recipe(name, token, named) {
        filters += recipe.filters
      } else {
        filters.append(try filter(token))
      }
      guard filters.count <= Self.maxFunctions else {
        throw RecipeError(
          "a recipe may have \(Self.maxFunctions) functions, with those of named recipes", at: token.offset)
      }
    }
    return filters
  }

  /// The recipe of a name; an error in it is one at the name's place.
  private func recipe(
    _ name: String, _ token: CSSToken, _ named: (String) throws(RecipeError) -> Recipe?
  ) throws(RecipeError) -> Recipe? {
    do throws(RecipeError) {
      return try named(name)
    } catch {
      throw RecipeError("\(name): \(error.message)", at: token.offset)
    }
  }

  private mutating func filter(_ token: CSSToken) throws(RecipeError) -> any FilterFunction {
    switch token.kind {
    case .function(let name):
      let kind = try FilterRegistry.function(named: name, at: token.offset, recipes: recipeNames)
      guard let close = closingParenthesis else {
        throw RecipeError("\(kind.name)( is not closed: ) is missing", at: end.offset)
      }
      var arguments = ArgumentReader(function: kind.name, end: tokens[close].offset, tokens: tokens[..<close])
      let hint = DecimalComma.hint(tokens[..<close])
      tokens = tokens[(close + 1)...]
      do throws(RecipeError) {
        let filter = try kind.init(arguments: &arguments)
        try arguments.finish()
        return filter
      } catch {
        guard let hint else { throw error }
        let meant = arguments.takesIntegers ? "arguments are separated by spaces" : hint
        throw RecipeError("\(error.message); \(meant)", at: error.offset)
      }
    case .identifier(let name) where name.lowercased() == "none":
      throw RecipeError("none stands alone", at: token.offset)
    case .identifier(let name):
      // Unknown names are reported as such; known ones lack their parentheses.
      let kind = try FilterRegistry.function(
        named: name, at: token.offset, hasParentheses: false, recipes: recipeNames)
      throw RecipeError("\(kind.name) needs parentheses: \(kind.name)()", at: token.offset)
    case .comma:
      throw RecipeError("filters are separated by spaces, not by commas", at: token.offset)
    default:
      throw RecipeError("expected a filter such as sepia(0.8), found \(token.text)", at: token.offset)
    }
  }

  /// Checks the number of functions, those within arguments excluded.
  private func checkCount() throws(RecipeError) {
    var (depth, functions) = (0, [CSSToken]())
    for token in tokens {
      if case .function = token.kind {
        if depth == 0 { functions.append(token) }
        depth += 1
      }
      if token.kind == .rightParenthesis { depth = max(depth - 1, 0) }
    }
    guard functions.count <= Self.maxFunctions else {
      throw RecipeError(
        "a recipe may have \(Self.maxFunctions) functions; this one has \(functions.count)",
        at: functions[Self.maxFunctions].offset)
    }
  }

  /// The index of the parenthesis that closes the current function, after those of nested functions.
  private var closingParenthesis: Int? {
    var depth = 0
    return tokens.firstIndex { token in
      if case .function = token.kind { depth += 1 }
      if token.kind == .rightParenthesis { depth -= 1 }
      return depth < 0
    }
  }
}

/// Finds numbers that are written with a decimal comma, as in `sepia(0,8)`.
enum DecimalComma {
  /// - Parameter arguments: The tokens between the parentheses of a function.
  /// - Returns: A hint about the first of them; nil when there is none outside of functions within the arguments, such as
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

  /// The intended number of two numbers with a comma and no space between them.
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
