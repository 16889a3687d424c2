/// The options for results.
package struct OutputOptions: Sendable, Hashable {
  /// The format; nil (the default) keeps the source's.
  package var format: ImageFormat?
  /// The quality of JPEG, AVIF and lossy WebP, 1…100; default 85. JPEG uses the scale of the Independent JPEG Group. From 90 on
  /// JPEG and AVIF use the source's chroma sampling when it is finer than 4:2:0.
  package var quality: Int
  /// The chroma sampling of JPEG and AVIF; default nil: by quality and source, as above.
  package var chroma: ChromaChoice?
  /// How the coefficients of JPEG are coded; default `baseline`.
  package var jpegCoding: JPEGCoding
  /// Whether PNG has a palette; default `off`.
  package var pngPalette: PNGPalette
  /// How much of EXIF, XMP and IPTC is kept; default `copyright`.
  package var metadata: MetadataPolicy
  /// What becomes of a source with damaged pixels; default `fail`.
  package var damaged: DamagePolicy

  /// Creates options with the defaults above.
  package init(
    format: ImageFormat? = nil, quality: Int = 85, chroma: ChromaChoice? = nil, jpegCoding: JPEGCoding = .baseline,
    pngPalette: PNGPalette = .off, metadata: MetadataPolicy = .copyright,
    damaged: DamagePolicy = .fail
  ) {
    self.format = format
    self.quality = quality
    self.chroma = chroma
    self.jpegCoding = jpegCoding
    self.pngPalette = pngPalette
    self.metadata = metadata
    self.damaged = damaged
  }
}
