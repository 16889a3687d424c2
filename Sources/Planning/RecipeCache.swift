import Imaging

/// The recipes of a manifest by their text. Most manifests have few.
struct RecipeCache {
  private var recipes: [String: Recipe] = [:]

  /// The most recipes that are cached. When it is reached, the cache is emptied.
  static let limit = 256

  var count: Int { recipes.count }

  /// - Throws: As for `Recipe.init(parsing:named:)`.
  mutating func recipe(_ text: String, named: NamedRecipes) throws(RecipeError) -> Recipe {
    if let known = recipes[text] { return known }
    let recipe = try Recipe(parsing: text, named: named)
    if recipes.count >= Self.limit { recipes.removeAll(keepingCapacity: true) }
    recipes[text] = recipe
    return recipe
  }
}
