/// What is written.
package struct OutputOptions: Sendable, Hashable {
  /// The format; nil (the default) keeps the source's.
  package var format: ImageFormat?
  /// The quality of JPEG, 1…100 on the scale of the Independent JPEG Group; default 85. From 90 the source's chroma
  /// sampling is kept when it is finer than 4:2:0.
  package var quality: Int
  /// What is kept of EXIF, XMP and IPTC; default `copyright`.
  package var metadata: MetadataPolicy

  /// Options, by default those above.
  package init(format: ImageFormat? = nil, quality: Int = 85, metadata: MetadataPolicy = .copyright) {
    self.format = format
    self.quality = quality
    self.metadata = metadata
  }
}
