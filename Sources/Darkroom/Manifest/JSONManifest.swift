/// A dictionary *name → URL or entry*, an array of URLs or entries, or an envelope with `defaults` and `entries`.
struct JSONManifest: ManifestFormat {
  let name = "json"
  let extensions = ["json"]

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    let value = try file.whole().withUnsafeBytes { try JSONDocument(parsing: $0).value() }
    try ManifestTree(value).read(yield)
  }
}
