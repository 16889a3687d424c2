import System

/// Recipes that others use by their names, such as `thumb` for `resize(fit 256 256) sharpen(0.5)`. The names stand for the filters:
/// canonical texts have none.
package struct NamedRecipes: Sendable, Equatable {
  /// By the name in lower case.
  private var recipes: [String: Recipe] = [:]

  /// The most recipes.
  static let limit = 1000

  /// How many recipes may use one another in a row.
  static let maxDepth = 16

  package init() {}

  /// - Parameter texts: The recipes by their names, in any order. Each may use others.
  /// - Throws: `Problem` for the first that cannot be used: its name is none, or that of a filter or of another; its text is no
  ///   recipe; it uses itself.
  package init(parsing texts: [(name: String, text: String)]) throws(Problem) {
    guard texts.count <= Self.limit else {
      throw Problem(name: texts[Self.limit].name, message: "there may be \(Self.limit) recipes")
    }
    var byName: [String: String] = [:]
    for (name, text) in texts {
      if let message = Self.objection(to: name) { throw Problem(name: name, message: message) }
      guard byName.updateValue(text, forKey: name.lowercased()) == nil else {
        throw Problem(name: name, message: "there is another recipe of this name; the case of letters does not matter")
      }
    }
    var resolver = RecipeResolver(texts: byName)
    for (name, _) in texts {
      do throws(RecipeError) {
        _ = try resolver.recipe(named: name)
      } catch {
        throw Problem(name: name, message: error.description)
      }
    }
    recipes = resolver.known.mapValues(\.recipe)
  }

  /// Reads what `text` has written.
  package init(text: String) throws(Problem) {
    try self.init(
      parsing: text.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return (name: String(parts[0]), text: parts.count > 1 ? String(parts[1]) : "")
      })
  }

  /// A line for each, with name, colon and canonical text; nil without any.
  package var text: String? {
    recipes.isEmpty ? nil : all.map { "\($0.name):\($0.recipe)\n" }.joined()
  }

  /// A recipe that cannot be used.
  package struct Problem: Error, Equatable {
    package let name: String
    package let message: String
  }

  package var isEmpty: Bool { recipes.isEmpty }

  /// The recipes by their names in lower case, sorted.
  package var all: [(name: String, recipe: Recipe)] {
    recipes.sorted { $0.key < $1.key }.map { (name: $0.key, recipe: $0.value) }
  }

  package subscript(name: String) -> Recipe? { recipes[name.lowercased()] }

  /// Why a text cannot be a name; nil when it can.
  private static func objection(to name: String) -> String? {
    var tokenizer = CSSTokenizer(name)
    guard case .identifier(name)? = try? tokenizer.next().kind, (try? tokenizer.next().kind) == .end else {
      return "a name has letters, digits, - and _, and does not begin with a digit"
    }
    let taken = FilterRegistry.names + ["none"]
    return taken.contains(name.lowercased()) ? "\(name) is a filter of darkroom's own" : nil
  }
}

/// Parses recipes in the order in which they use one another.
private struct RecipeResolver {
  /// By the name in lower case.
  let texts: [String: String]
  /// Those that have been parsed, by the name in lower case; `depth` is how many are used in a row, itself included.
  private(set) var known: [String: (recipe: Recipe, depth: Int)] = [:]

  init(texts: [String: String]) { self.texts = texts }

  /// - Parameter users: The recipes that are being parsed, each of which uses the next. Default: none.
  /// - Returns: nil when there is no recipe of this name.
  mutating func recipe(named name: String, for users: [String] = []) throws(RecipeError) -> Recipe? {
    let key = name.lowercased()
    if let known = known[key] { return known.recipe }
    guard let text = texts[key] else { return nil }
    guard !users.contains(key) else {
      throw RecipeError("it uses itself: \((users + [key]).joined(separator: " uses "))", at: 0)
    }
    // Nothing is parsed beyond the limit, whatever is known already.
    guard users.count < NamedRecipes.maxDepth else { throw Self.tooDeep }
    var depth = 1
    let texts = texts
    let parsed = try Recipe(parsing: text, names: { texts.keys.sorted() }) { name throws(RecipeError) in
      let used = try recipe(named: name, for: users + [key])
      depth = max(depth, 1 + (known[name.lowercased()]?.depth ?? 0))
      return used
    }
    guard depth <= NamedRecipes.maxDepth else { throw Self.tooDeep }
    known[key] = (parsed, depth)
    return parsed
  }

  private static let tooDeep = RecipeError("recipes are nested too deeply", at: 0)
}
