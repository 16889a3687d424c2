import Imaging

/// What a filtration makes, and of what: results with the same key have the same bytes.
struct ResultKey: Sendable, Hashable {
  /// The source's SHA-256, the format, quality and metadata asked for, and the recipe.
  let text: String

  /// Whether the result is a lossless copy of the source.
  let isCopy: Bool

  /// The quality that was asked for; nil for a copy.
  let quality: Int?
  let metadata: MetadataPolicy

  /// - Parameter sha256: The source's.
  init(of sha256: String, for entry: Entry, metadata: MetadataPolicy) {
    let options = entry.options
    isCopy = entry.isCopied
    quality = isCopy ? nil : options.quality
    self.metadata = metadata
    text =
      isCopy
      ? "\(sha256) copied \(metadata)"
      : "\(sha256) \(options.format?.rawValue ?? "keep") \(options.quality) \(metadata) \(entry.recipe)"
  }
}
