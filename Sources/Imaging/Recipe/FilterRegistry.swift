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
  /// - Parameter hasParentheses: Whether parentheses follow, so that it cannot be the name of a recipe. Default: yes.
  /// - Throws: `RecipeError` at `offset` for unavailable and for unknown names; for the latter with the nearest known one.
  static func function(
    named name: String, at offset: Int, hasParentheses: Bool = true
  ) throws(RecipeError) -> any FilterFunction.Type {
    let wanted = name.lowercased()
    for function in all where function.name == wanted || function.aliases.contains(where: { $0.lowercased() == wanted })
    {
      return function
    }
    if unavailable.contains(wanted) {
      throw RecipeError("\(wanted)() is not available in this version", at: offset)
    }
    let known = all.flatMap { [$0.name] + $0.aliases } + unavailable
    let hint = NearestName.nearest(to: name, among: known).map { "; did you mean \($0)()?" } ?? ""
    let recipe = hasParentheses ? "" : ", and no recipe \(name) in the configuration"
    throw RecipeError("there is no filter \(name)()\(recipe)\(hint)", at: offset)
  }
}
