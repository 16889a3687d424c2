import System

/// The parts of a manifest's file name.
package struct ManifestFileName {
  /// The name without its extensions: the job's.
  package let stem: String

  /// The extension as written, including `.gz`: `csv`, `csv.gz`.
  package let suffix: String

  package let format: any ManifestFormat

  package var isCompressed: Bool { ManifestFile.isCompressed(suffix) }

  /// The stem without leading dots, which hide a file or folder.
  package var visibleStem: String { String(stem.unicodeScalars.drop { $0 == "." }) }

  /// - Returns: nil when the extension, in any case, is not that of a manifest.
  package init?(_ name: String) {
    guard let last = ManifestFormats.fileExtension(of: name) else { return nil }
    let inner = ManifestFile.isCompressed(last) ? name.dropping(bytesOfSuffix: "." + last) : name
    guard let suffix = ManifestFormats.fileExtension(of: inner), let format = ManifestFormats.format(of: suffix) else {
      return nil
    }
    stem = inner.dropping(bytesOfSuffix: "." + suffix)
    self.suffix = name.dropping(bytesOf: stem + ".")
    self.format = format
  }
}
