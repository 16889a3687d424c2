import JSON

/// A dictionary *name → string or entry*, an array of strings or entries, or an envelope with `defaults` and `entries`.
struct JSONManifest: ManifestFormat {
  let name = "json"
  let extensions = ["json"]

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    let value: JSONValue
    do {
      value = try file.whole().withUnsafeBytes { try JSONDocument(parsing: $0).value() }
    } catch let error as JSONError {
      throw ManifestProblem(error)
    }
    try ManifestTree(value, fields).read(yield)
  }
}
