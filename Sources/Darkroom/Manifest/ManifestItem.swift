/// One thing that a manifest's format yields, in the manifest's order.
enum ManifestItem: Sendable, Equatable {
  /// Values for the fields that entries leave out; comes before any entry.
  case defaults(JSONValue, place: ManifestProblem.Place)

  /// A URL or an object of entry fields; `key` is its name where the format has names as keys.
  case entry(JSONValue, key: String?, place: ManifestProblem.Place)

  /// An entry of which no value can be made, and why: the manifest is rejected, and read on for what else is wrong.
  case unreadable([ManifestProblem])
}
