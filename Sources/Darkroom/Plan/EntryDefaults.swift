import Imaging

/// What an entry gets for the fields that it leaves out.
struct EntryDefaults: Sendable, Equatable {
  var recipe: Recipe
  var options: OutputOptions
  var priority = Entry.Priority.normal
  var metadata: JSONValue?
  var request = RequestFields()
}
