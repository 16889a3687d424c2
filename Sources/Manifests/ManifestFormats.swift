/// The list of manifest formats. Files of each may be packed with gzip, and then also end in `.gz`.
package enum ManifestFormats {
  package static let all: [any ManifestFormat] = [
    JSONManifest(),
    JSONLinesManifest(),
    PropertyListManifest(),
    TextManifest(),
    DelimitedManifest.csv,
    DelimitedManifest.tsv,
  ]

  /// Why a file with an unknown extension is not a manifest, as far as its name tells.
  package static func refusal(of name: String) -> String {
    if let suffix = fileExtension(of: name)?.lowercased(), ["xlsx", "xlsm", "xls", "ods", "numbers"].contains(suffix) {
      return "it is a spreadsheet (.\(suffix)), not a manifest; \(OtherKind.spreadsheetRemedy)"
    }
    let known = all.flatMap(\.extensions).map { "." + $0 }.joined(separator: ", ")
    return "its extension is not that of a manifest: \(known), or one of these with .gz"
  }

  /// The format of an extension, in any case; nil for an unknown one.
  package static func format(of suffix: some StringProtocol) -> (any ManifestFormat)? {
    let suffix = suffix.lowercased()
    return all.first { $0.extensions.contains(suffix) }
  }

  /// The text after the last dot of a name; nil when there is no dot or nothing before it.
  package static func fileExtension(of name: String) -> Substring? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    return name[name.utf8.index(after: dot)...]
  }
}
