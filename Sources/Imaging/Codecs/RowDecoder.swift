/// Reads a picture row by row.
protocol RowDecoder: AnyObject, SendableMetatype {
  /// Reads the header from an open file, which must be seekable and stay open while the decoder lives; it is not closed.
  /// - Throws: `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `io`.
  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError)

  /// The contents of the header.
  var info: ImageInfo { get }
  /// The channels and depth of the stored picture, with palettes and transparent colours expanded.
  var layout: PixelLayout { get }
  /// The chroma sampling of the stored picture.
  var chroma: ChromaSampling { get }
  /// Whether the picture has few colours, which repeat exactly; false by default.
  var hasFewColours: Bool { get }
  /// Whether the file is lossless although its format can be lossy; false by default.
  var isLossless: Bool { get }
  var metadata: Metadata { get }

  /// Damage found so far that does not prevent decoding; nil by default.
  var damage: PictureDamage? { get }

  /// The bytes of the whole picture that are held after `start`; 0 when it is decoded row by row.
  var wholePictureBytes: Int { get }

  /// The fractions of its size at which the picture can be decoded, as eighths of each side, 1…7; by default none.
  var reductions: [Int] { get }
  /// Requests a picture of `eighths` eighths of each side, rounded up; one of `reductions`. Must be called before `start`.
  /// The size in `info` does not change.
  func reduce(toEighths eighths: Int)

  /// This decoder if it can deliver its stored planes of YCbCr instead of rows; nil by default.
  var planeDecoder: (any PlaneDecoder)? { get }

  /// Prepares for rows. `colour` requests colour rows of a grey picture. Pictures that cannot be read row by row are read
  /// whole here, calling `isCancelled` every few rows.
  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError)
  /// Reads the next row, grey or coloured as requested in `start`.
  func read(into row: PixelRow) throws(ImagingError)
  /// Reads on to the end after the last row, so that a missing end is an error.
  func finish() throws(ImagingError)
}

extension RowDecoder {
  var size: PictureSize { info.size }
  var hasFewColours: Bool { false }
  var isLossless: Bool { false }
  var damage: PictureDamage? { nil }
  var reductions: [Int] { [] }
  func reduce(toEighths eighths: Int) {}
  var planeDecoder: (any PlaneDecoder)? { nil }
}
