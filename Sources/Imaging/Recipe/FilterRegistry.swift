import System

/// The list of all filters.
package enum FilterRegistry {
  /// The filters that recipes may name: those of CSS in the order of the specification, then others.
  package static let all: [any FilterFunction.Type] = [
    Grayscale.self,
    Sepia.self,
    Saturate.self,
    HueRotate.self,
    Invert.self,
    Opacity.self,
    Brightness.self,
    Contrast.self,
    Blur.self,
    DropShadow.self,
    Resize.self,
    Crop.self,
    Pad.self,
    Rotate.self,
    Flip.self,
    Flop.self,
    Sharpen.self,
    Background.self,
  ]

  /// The names and aliases of all, in lower case.
  static var names: [String] { all.flatMap { [$0.name] + $0.aliases.map { $0.lowercased() } } }

  /// The functions of CSS that are not available.
  static let unavailable = ["url"]

  /// Returns the filter with a name or alias, case-insensitively.
  /// - Parameters:
  ///   - hasParentheses: Whether parentheses follow, so that it cannot be the name of a recipe. Default: yes.
  ///   - recipes: The names of the recipes, in lower case. Called only for other names than those of filters.
  /// - Throws: `RecipeError` at `offset` for unavailable and for unknown names; for the latter with the nearest known one.
  static func function(
    named name: String, at offset: Int, hasParentheses: Bool = true, recipes: () -> [String]
  ) throws(RecipeError) -> any FilterFunction.Type {
    let wanted = name.lowercased()
    for function in all where function.name == wanted || function.aliases.contains(where: { $0.lowercased() == wanted })
    {
      return function
    }
    if unavailable.contains(wanted) {
      throw RecipeError("\(wanted)() is not available in this version", at: offset)
    }
    let recipes = recipes()
    if hasParentheses, recipes.contains(wanted) {
      throw RecipeError("\(name) is a recipe; its name is written without parentheses: \(wanted)", at: offset)
    }
    let missing = hasParentheses ? "" : ", and no recipe \(name) in the configuration"
    throw RecipeError("there is no filter \(name)()\(missing); \(advice(for: name, recipes))", at: offset)
  }

  /// The nearest filter or recipe, or where all filters are listed.
  private static func advice(for name: String, _ recipes: [String]) -> String {
    let filters = all.flatMap { [$0.name] + $0.aliases } + unavailable
    guard let nearest = NearestName.nearest(to: name, among: filters + recipes) else {
      return "\"darkroom filters\" lists them"
    }
    return "did you mean \(nearest)\(recipes.contains(nearest) ? "" : "()")?"
  }
}
