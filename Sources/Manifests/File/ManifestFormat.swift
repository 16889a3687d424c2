import JSON

/// A way to write a manifest down. To add one: add a file, and a line in `ManifestFormats.all`.
package protocol ManifestFormat: Sendable {
  /// The name in reports.
  var name: String { get }

  /// The file-name extensions that mean this format, in lower case.
  var extensions: [String] { get }

  /// What such a file holds, for the manual.
  var summary: String { get }

  /// Reads a manifest from its beginning and hands on what it holds, in order.
  /// - Parameter fields: What the caller's entries have.
  /// - Throws: `ManifestProblem` for what makes the whole manifest unreadable; what `yield` throws.
  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws
}

/// One thing that a manifest's format yields, in the manifest's order.
package enum ManifestItem: Sendable, Equatable {
  /// Values for the fields that entries leave out; comes before any entry.
  case defaults(JSONValue, place: ManifestProblem.Place)

  /// A string or an object of entry fields; `key` is its name where the format has names as keys.
  case entry(JSONValue, key: String?, place: ManifestProblem.Place)

  /// The entries are listed elsewhere: an object of entry fields that says where. It comes after `defaults`, and is all.
  case source(JSONValue, place: ManifestProblem.Place)

  /// Something doubtful that keeps nothing from being read.
  case warning(ManifestWarning)

  /// An entry of which no value can be made, and why: the manifest is rejected, and read on for what else is wrong.
  case unreadable(EntryProblems)
}
