import Imaging
import JSON

/// What an entry gets for the fields that it leaves out.
struct EntryDefaults: Sendable, Equatable {
  var recipe: Recipe
  var options: OutputOptions
  var priority = Entry.Priority.normal
  var metadata: JSONValue?
  var request = RequestFields()
}

extension JobManifest {
  /// What entries get for the fields that they leave out, as the options said on acceptance.
  /// - Throws: `RecipeError`: only when the ledger is damaged.
  var defaults: EntryDefaults {
    get throws {
      EntryDefaults(
        recipe: try Recipe(parsing: filters),
        options: OutputOptions(format: ImageFormat(rawValue: outputFormat), quality: quality))
    }
  }
}
