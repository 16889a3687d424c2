/// What the name of a manifest's file tells.
struct ManifestFileName {
  /// The name without its extensions: the job's.
  let stem: String

  /// The extension as it is written, `.gz` included: `csv`, `csv.gz`.
  let suffix: String

  let format: any ManifestFormat

  /// Whether the file is packed with gzip.
  var isCompressed: Bool { Self.isCompressed(suffix) }

  /// The stem without leading dots, which would hide the job's folder.
  var visibleStem: String { String(stem.drop { $0 == "." }) }

  /// - Returns: nil when the extension, in any case, is no manifest's.
  init?(_ name: String) {
    guard let last = ManifestFormats.fileExtension(of: name) else { return nil }
    let inner = Self.isCompressed(last) ? String(name.dropLast(last.count + 1)) : name
    guard let suffix = ManifestFormats.fileExtension(of: inner), let format = ManifestFormats.format(of: suffix) else {
      return nil
    }
    stem = String(inner.dropLast(suffix.count + 1))
    self.suffix = String(name.dropFirst(stem.count + 1))
    self.format = format
  }

  /// Whether a name or an extension says that the file is packed with gzip.
  static func isCompressed(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased()
    return name == "gz" || name.hasSuffix(".gz")
  }
}
