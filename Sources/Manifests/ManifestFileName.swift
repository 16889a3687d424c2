/// The parts of a manifest's file name.
package struct ManifestFileName {
  /// The name without its extensions: the job's.
  package let stem: String

  /// The extension as written, including `.gz`: `csv`, `csv.gz`.
  package let suffix: String

  package let format: any ManifestFormat

  package var isCompressed: Bool { ManifestFile.isCompressed(suffix) }

  /// The stem without leading dots, which hide a file or folder.
  package var visibleStem: String { String(stem.drop { $0 == "." }) }

  /// - Returns: nil when the extension, in any case, is not that of a manifest.
  package init?(_ name: String) {
    guard let last = ManifestFormats.fileExtension(of: name) else { return nil }
    let inner = ManifestFile.isCompressed(last) ? String(name.dropLast(last.count + 1)) : name
    guard let suffix = ManifestFormats.fileExtension(of: inner), let format = ManifestFormats.format(of: suffix) else {
      return nil
    }
    stem = String(inner.dropLast(suffix.count + 1))
    self.suffix = String(name.dropFirst(stem.count + 1))
    self.format = format
  }
}
