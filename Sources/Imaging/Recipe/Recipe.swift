/// A list of filters, applied left to right: a CSS `<filter-value-list>` (W3C Filter Effects Module Level 1).
package struct Recipe: Sendable, Hashable, CustomStringConvertible {
  let filters: [any FilterFunction]

  /// The canonical text: functions in lower case, numbers instead of percentages, degrees, defaults written out.
  /// Recipes with the same canonical text are equal.
  package let description: String

  package static let none = Recipe(filters: [])

  /// The most bytes of a text.
  static let maxLength = 64 << 10

  private init(filters: [any FilterFunction]) {
    self.filters = filters
    description =
      filters.isEmpty ? "none" : filters.map { "\(type(of: $0).name)(\($0.argument))" }.joined(separator: " ")
  }

  /// Parses a recipe such as `sepia(0.8) brightness(110%)` or `none`.
  /// - Parameter named: Recipes that the text may use by their names. Default: none.
  /// - Throws: `RecipeError` with the offset of the first error.
  package init(parsing text: String, named: NamedRecipes = NamedRecipes()) throws(RecipeError) {
    try self.init(parsing: text, names: { named.all.map(\.name) }, named: { named[$0] })
  }

  /// - Parameters:
  ///   - names: The names of all recipes, in lower case, for messages.
  ///   - named: The recipe of a name; nil when there is none.
  init(
    parsing text: String, names: @escaping () -> [String], named: (String) throws(RecipeError) -> Recipe?
  ) throws(RecipeError) {
    guard text.utf8.count <= Self.maxLength else {
      throw RecipeError("a recipe may have \(Self.maxLength) bytes; this one has \(text.utf8.count)", at: 0)
    }
    var parser = try RecipeParser(text, recipeNames: names)
    self.init(filters: try parser.parse(named))
  }

  package var isEmpty: Bool { filters.isEmpty }

  package static func == (a: Recipe, b: Recipe) -> Bool { a.description == b.description }

  package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
