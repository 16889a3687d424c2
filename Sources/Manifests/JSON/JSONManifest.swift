import JSON

/// A dictionary *name → string or entry*, an array of strings or entries, or an envelope with `defaults` and `entries`.
struct JSONManifest: ManifestFormat {
  let name = "json"
  let extensions = ["json"]

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    let data = try file.whole()
    do {
      let value = try data.withUnsafeBytes { try JSONDocument(parsing: $0).value() }
      return try ManifestTree(value, fields).read(yield)
    } catch let error as JSONError where error.code != .duplicateKey {
      throw ManifestProblem(error)
    } catch is JSONError {}
    // The manifest is rejected, and read on for what else is wrong.
    var duplicates: [JSONError] = []
    let document = Result { try data.withUnsafeBytes { try JSONDocument(parsing: $0, reporting: &duplicates) } }
    if !duplicates.isEmpty { try yield(.unreadable(duplicates.map(ManifestProblem.init))) }
    do {
      try ManifestTree(document.get().value(), fields).read(yield)
    } catch let error as JSONError {
      throw ManifestProblem(error)
    }
  }
}
