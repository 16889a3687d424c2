/// Writes a picture row by row.
protocol RowEncoder: AnyObject, SendableMetatype {
  /// Creates an encoder into an open file, from its current offset; the file is not closed. Writes the header and the
  /// metadata, unless the picture is encoded in `finish`.
  /// - Throws: `image-too-large` when the format cannot hold the picture, `filter-failed`, `io`.
  init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError)

  /// Bytes of the whole picture that an encoder holds; 0, the default, when it writes row by row.
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int

  /// The type that writes stored planes of YCbCr instead of rows; nil by default.
  static var planeEncoder: (any PlaneEncoder.Type)? { get }

  /// Writes the next row. Where many rows that were held are written with it, `isCancelled` is called every few rows.
  func write(_ row: PixelRow, isCancelled: () -> Bool) throws(ImagingError)
  /// Completes the file; all bytes have been written to the system when it returns. Pictures that cannot be written row by
  /// row are encoded here, calling `isCancelled` from time to time.
  func finish(isCancelled: () -> Bool) throws(ImagingError)
}

extension RowEncoder {
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int { 0 }
  static var planeEncoder: (any PlaneEncoder.Type)? { nil }
}

/// An encoder that can also write planes of YCbCr as they are stored.
protocol PlaneEncoder: RowEncoder {
  /// Creates an encoder that expects planes instead of rows.
  init(planesTo descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError)
  /// Writes the rows of blocks of each component that hold `rows` luma rows.
  func writeBlocks(from planes: PlaneBand, rows: Int) throws(ImagingError)
}

/// The settings of an encoder.
struct EncodeSettings {
  /// Format and size.
  var info: ImageInfo
  /// Channels and depth; without alpha or 16 bits for formats that lack them.
  var layout: PixelLayout
  /// 1…100, for formats that have it.
  var quality: Int
  /// Of formats that have it.
  var chroma: ChromaSampling
  /// Of JPEG.
  var jpegCoding = JPEGCoding.baseline
  /// Of PNG.
  var pngPalette = PNGPalette.off
  /// Whether the picture has few colours, which repeat exactly, as from a palette.
  var hasFewColours = false
  /// Whether a format that can be lossless or lossy is written losslessly.
  var isLossless = false
  var metadata: Metadata
}
