import Foundation
import JSON

/// A dictionary *name → string or entry*, an array of strings or entries, or an envelope with `defaults` and `entries`.
struct JSONManifest: ManifestFormat {
  let name = "json"
  let extensions = ["json"]
  let summary =
    "JSON: a dictionary of names and URLs or entries; an array of URLs or entries; an envelope, {\"defaults\": {…}, "
    + "\"entries\": …}, around either; or {\"source\": URL, \"defaults\": {…}}, whose entries are listed elsewhere"

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    let data = try file.whole()
    if data.withUnsafeBytes({ JSONDocument.hasMoreValues(than: ManifestFile.valueLimit, in: $0) }) {
      throw ManifestFile.tooManyValues
    }
    do {
      let value = try data.withUnsafeBytes { try JSONDocument(parsing: $0, allowingNUL: true).value() }
      return try ManifestTree(value, fields).read(yield)
    } catch let error as JSONError where error.code == .trailingText {
      let hint = "if each line is an entry, give the file the extension .jsonl"
      throw ManifestProblem(JSONError(.syntax, "\(error.message); \(hint)", at: error.location))
    } catch let error as JSONError where error.code != .duplicateKey {
      throw ManifestProblem(error)
    } catch let error as JSONError {
      try readOn(data, fields, after: error, yield)
    }
  }

  /// Searches a text in which a key occurs twice for other errors.
  /// - Parameter duplicate: The first such key. It may be nested deeper than the search for others goes.
  private func readOn(
    _ data: Data, _ fields: FieldVocabulary, after duplicate: JSONError, _ yield: (ManifestItem) throws -> Void
  ) throws {
    var duplicates: [JSONError] = []
    let value = Result {
      try data.withUnsafeBytes { try JSONDocument(parsing: $0, allowingNUL: true, reporting: &duplicates) }.value()
    }
    if let problems = EntryProblems(duplicates.map(ManifestProblem.init)) { try yield(.unreadable(problems)) }
    switch value {
    case .failure(let error as JSONError): throw ManifestProblem(error)
    case .failure(let error): throw error
    case .success(let value):
      if duplicates.isEmpty { try yield(.unreadable(EntryProblems(ManifestProblem(duplicate)))) }
      try ManifestTree(value, fields).read(yield)
    }
  }
}
