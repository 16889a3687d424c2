import JSON

/// A format of manifests. To add one: add a file, and a line in `ManifestFormats.all`.
package protocol ManifestFormat: Sendable {
  /// The name in reports.
  var name: String { get }

  /// The file name extensions of this format, in lower case.
  var extensions: [String] { get }

  /// The contents of such a file, for the manual.
  var summary: String { get }

  /// Reads a manifest from its beginning and passes on its items, in order.
  /// - Parameter fields: The fields of the caller's entries.
  /// - Throws: `ManifestProblem` when the whole manifest is unreadable; what `yield` throws.
  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws
}

/// An item of a manifest, in the manifest's order.
package enum ManifestItem: Sendable, Equatable {
  /// Values for the fields that entries leave out; comes before any entry.
  case defaults(JSONValue, location: ManifestProblem.Location)

  /// A string or an object of entry fields; `key` is its name where the format has names as keys.
  case entry(JSONValue, key: String?, location: ManifestProblem.Location)

  /// A reference to a list of entries elsewhere: an object of entry fields. It comes after `defaults`, and is the last item.
  case source(JSONValue, location: ManifestProblem.Location)

  /// A doubt that does not keep the manifest from being read.
  case warning(ManifestWarning)

  /// An unreadable entry, and why: the manifest is rejected, and reading continues to find other errors.
  case unreadable(EntryProblems)
}
