import Imaging
import JobIndex
import JSON
import Model

/// What an entry gets for the fields that it leaves out.
package struct EntryDefaults: Sendable, Equatable {
  package var recipe: Recipe
  package var options: OutputOptions
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
  /// What entries get for the fields that they leave out, as the options said on acceptance.
  /// - Throws: `RecipeError`: only when the ledger is damaged.
  package var defaults: EntryDefaults {
    get throws {
      EntryDefaults(
        recipe: try Recipe(parsing: filters),
        options: OutputOptions(format: ImageFormat(rawValue: outputFormat), quality: quality))
    }
  }
}
