/// The manifest formats that there are.
enum ManifestFormats {
  static let all: [any ManifestFormat] = [
    JSONManifest(),
    JSONLinesManifest(),
    PropertyListManifest(),
    URLListManifest(),
  ]

  /// Extensions of formats that are promised and that this version does not have.
  static let later: Set = ["csv", "tsv", "gz"]

  /// Why a file name is not that of a manifest.
  static func refusal(ofFileNamed name: String) -> String {
    let isLater = fileExtension(of: name).map { later.contains($0.lowercased()) } ?? false
    let known = all.flatMap(\.extensions).map { "." + $0 }.joined(separator: ", ")
    return "its extension is none of a manifest's" + (isLater ? " in this version: " : ": ") + known
  }

  /// The format that a file name's extension means, in any case; nil when it means none.
  static func format(ofFileNamed name: String) -> (any ManifestFormat)? {
    guard let suffix = fileExtension(of: name)?.lowercased() else { return nil }
    return all.first { $0.extensions.contains(suffix) }
  }

  /// The name of the job that a manifest's file name stands for: what comes before its extension.
  static func job(ofFileNamed name: String) -> String {
    guard let suffix = fileExtension(of: name) else { return name }
    return String(name.dropLast(suffix.count + 1))
  }

  /// What follows the last dot of a name; nil when there is no dot or nothing before it.
  static func fileExtension(of name: String) -> Substring? {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    return name[name.index(after: dot)...]
  }
}
