/// What an encoder is to write.
struct EncodingOrder {
  /// Format and size.
  var info: ImageInfo
  /// Channels and depth; no alpha and no 16 bits for formats that lack them.
  var layout: PixelLayout
  /// 1…100, for formats that have it.
  var quality: Int
  /// How coarse colour was in the source.
  var chroma: ChromaSampling
  /// Whether the source's few colours repeat exactly, as those of a palette do.
  var hasFewColours = false
  /// Whether a format that can be both is to hold the pixels exactly.
  var isLossless = false
  /// What else the file says.
  var metadata: Metadata
}
