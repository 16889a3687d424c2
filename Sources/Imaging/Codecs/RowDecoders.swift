/// The decoders there are.
enum RowDecoders {
  /// A decoder of the picture in an open file, by its content. Reads from the file's beginning; the file must be seekable
  /// and stay open while the decoder lives, and it is not closed.
  /// - Throws: `not-an-image`, `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `io`.
  static func open(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) -> any RowDecoder {
    switch try Sniffing.format(of: descriptor) {
    case .jpeg: try JPEGDecoder(descriptor, limits: limits)
    case .png: try PNGDecoder(descriptor, limits: limits)
    case .webp: try WebPDecoder(descriptor, limits: limits)
    }
  }
}
