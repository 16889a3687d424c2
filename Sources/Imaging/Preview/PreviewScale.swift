/// Decides which pictures have a preview, a small JPEG for pages with many pictures, and its size.
package struct PreviewScale: Sendable, Equatable {
  /// Pictures of more pixels have a preview. A browser decodes whole pictures, four bytes for each pixel: up to this size a
  /// picture takes 6 MB and about 10 ms; larger ones are noticeable when dozens of them are visible.
  package static let threshold = 1_500_000

  /// The longest side of previews: twice the width of a picture in a grid, for screens with two pixels for each of CSS.
  /// Not more: sums of samples must fit into 16 bits (`cplanes_add_rows`).
  static let longestSide = 512

  /// The quality of previews.
  static let quality = 75

  /// Larger previews, which do not occur in practice, are dropped. They must fit into a message of a worker.
  package static let maxBytes = 120 << 10

  /// Columns and rows of the picture for one pixel of the preview; fewer at the right and the lower edge.
  let factor: Int

  /// The size of the preview.
  package let size: PictureSize

  /// Chooses the size of a picture's preview; nil for a picture that has none.
  /// - Parameter threshold: Pictures of more pixels have one.
  package init?(of picture: ImageInfo, from threshold: Int = threshold) {
    guard picture.width * picture.height > threshold else { return nil }
    factor = (max(picture.width, picture.height) + Self.longestSide - 1) / Self.longestSide
    size = PictureSize(
      width: (picture.width + factor - 1) / factor, height: (picture.height + factor - 1) / factor)
  }

  /// Whether a file can be the preview, judged by its header.
  package func allows(_ preview: ImageInfo) -> Bool { preview.format == .jpeg && preview.size == size }

  /// The settings of the preview's encoder, which writes into memory.
  func encodeSettings(isGrey: Bool) -> EncodeSettings {
    EncodeSettings(
      info: ImageInfo(format: .jpeg, width: size.width, height: size.height),
      layout: PixelLayout(isGrey: isGrey, hasAlpha: false, is16Bit: false), quality: Self.quality, chroma: .yuv420,
      metadata: Metadata())
  }
}
