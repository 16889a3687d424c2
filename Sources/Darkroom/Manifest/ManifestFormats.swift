/// The manifest formats that there are.
enum ManifestFormats {
  static let all: [any ManifestFormat] = [
    JSONManifest(),
    JSONLinesManifest(),
    PropertyListManifest(),
    URLListManifest(),
  ]

  /// The format that a file name's extension means, in any case; nil when it means none.
  static func format(ofFileNamed name: String) -> (any ManifestFormat)? {
    guard let suffix = fileExtension(of: name)?.lowercased() else { return nil }
    return all.first { $0.extensions.contains(suffix) }
  }

  /// What follows the last dot of a name; nil when there is no dot or nothing before it.
  static func fileExtension(of name: String) -> Substring? {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    return name[name.index(after: dot)...]
  }
}
