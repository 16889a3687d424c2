import Imaging
import JobIndex
import JSON
import Model

/// The values of fields that an entry leaves out.
package struct EntryDefaults: Sendable, Equatable {
  package var recipe: Recipe
  package var options: OutputOptions

  /// The recipes that entries use by their names. Default: none.
  package var recipes = NamedRecipes()

  var priority = Entry.Priority.normal
  var metadata: JSONValue?
  var request = RequestFields()

  package init(
    recipe: Recipe, options: OutputOptions, priority: Entry.Priority = Entry.Priority.normal,
    metadata: JSONValue? = nil, request: RequestFields = RequestFields()
  ) {
    self.recipe = recipe
    self.options = options
    self.priority = priority
    self.metadata = metadata
    self.request = request
  }
}

extension JobManifest {
  /// The values of fields that entries leave out, and the recipes that have names, from the options on acceptance.
  /// - Throws: `RecipeError`, `NamedRecipes.Problem`: only when the ledger is damaged.
  package var defaults: EntryDefaults {
    get throws {
      var defaults = EntryDefaults(
        recipe: try Recipe(parsing: filters),
        options: OutputOptions(format: ImageFormat(rawValue: outputFormat), quality: quality))
      if let recipes { defaults.recipes = try NamedRecipes(text: recipes) }
      return defaults
    }
  }
}
