/// How a picture's file is laid out, read in memory-safe code without the format's library and without decoding: enough for
/// a copy. The verdict on the header is that of the format's `RowDecoder`, except for `decodingError`.
protocol PictureStructure: SendableMetatype {
  /// Reads the header.
  /// - Throws: `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `image-too-small`, `io`, as the
  ///   format's decoder does; `image-corrupt` also when there are too many segments or chunks; `cancelled`.
  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError)

  /// The contents of the header.
  var info: ImageInfo { get }

  /// Damage of the header that does not prevent a copy. Default: nil.
  var damage: PictureDamage? { get }

  /// The decoder's error for that, when pixels may depend on it. Default: nil.
  var decodingError: ImagingError? { get }

  /// The parts of the file that make up a copy: the coded picture as it is, what it depends on, and the metadata that a
  /// policy keeps. What follows the picture's end is never among them.
  /// - Throws: `image-corrupt` when there are too many parts, segments or chunks, `image-too-large` when there are too many
  ///   scans, `io`, `cancelled`.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts
}

extension PictureStructure {
  var damage: PictureDamage? { nil }
  var decodingError: ImagingError? { nil }
}
