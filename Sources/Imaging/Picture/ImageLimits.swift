import System

/// The limits that pictures are checked against.
package struct ImageLimits: Sendable {
  /// Width times height, of sources and results. Default 268 402 689 (16 383 × 16 383).
  package var maxPixels: Int
  /// Width times height, of sources. Default 0.
  package var minPixels = 0
  /// The memory shared by all pictures that cannot be processed row by row.
  package var memory: WholePictureMemory

  /// What becomes of a picture with damaged pixels. Default `fail`.
  package var damaged = DamagePolicy.fail

  /// Whether damage that makes a library execute something else is confined to this process. Default: false.
  package var isConfined = false

  /// The largest side in pixels, libpng's own default: a row is held in memory.
  package static let maxSide = 1_000_000

  /// Creates limits with the defaults above and their own memory.
  package init(maxPixels: Int = 268_402_689, memory: WholePictureMemory = WholePictureMemory()) {
    self.maxPixels = maxPixels
    self.memory = memory
  }

  /// The largest number of scans of one JPEG: 500, from 4 megapixels on fewer, and 100 from 20 megapixels on. Decoding a
  /// scan visits the whole picture and needs only a few bytes of file, so many scans are an attack; cameras and encoders
  /// write up to 20.
  static func maxScans(of size: PictureSize) -> Int { min(max(2_000_000_000 / (size.width * size.height), 100), 500) }

  /// Checks the number of scans of a JPEG.
  /// - Throws: `image-too-large`.
  static func check(scans: Int, of size: PictureSize) throws(ImagingError) {
    let limit = maxScans(of: size)
    guard scans > limit else { return }
    throw ImagingError(
      code: .imageTooLarge,
      message: "the JPEG has more than \(limit) scans, which is the limit for \(size.width) × \(size.height)")
  }

  /// The largest number of bytes of metadata (EXIF, XMP, ICC, each and in sum); items beyond it are dropped.
  static let maxMetadataBytes = 4 << 20

  /// The picture whose size is checked, in words.
  enum Subject: String {
    case source = "the picture has"
    /// The result of the recipe or of one of its functions.
    case result = "the recipe gives the picture"
  }

  /// Checks a size.
  /// - Throws: `image-too-large` when a limit is exceeded, `image-corrupt` when a side is 0.
  func check(_ size: PictureSize, of subject: Subject) throws(ImagingError) {
    let (width, height) = (size.width, size.height)
    guard width > 0, height > 0 else {
      throw ImagingError(code: .imageCorrupt, message: "the picture has no pixels (\(width) × \(height))")
    }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= maxPixels else {
      throw ImagingError(
        code: .imageTooLarge,
        message: "--max-pixels is \(PixelCount(maxPixels)); \(subject.rawValue) more: \(width) × \(height)"
          + (overflow ? "" : ", which is \(PixelCount(pixels))"))
    }
    guard max(width, height) <= Self.maxSide else {
      throw ImagingError(
        code: .imageTooLarge,
        message: "a side may have \(Self.maxSide) pixels; \(subject.rawValue) \(width) × \(height)")
    }
  }

  /// Checks the size of a source.
  func check(width: Int, height: Int) throws(ImagingError) {
    try check(PictureSize(width: width, height: height), of: .source)
    try checkMinimum(width: width, height: height)
  }

  /// Checks the sizes of a result that exists and of its source.
  /// - Throws: `image-too-large`, `image-too-small`.
  package func check(_ result: ImageInfo, from source: ImageInfo) throws(ImagingError) {
    try check(width: source.width, height: source.height)
    try check(result.size, of: .result)
  }

  /// Checks the minimum size of a source that is not too large.
  /// - Throws: `image-too-small`.
  private func checkMinimum(width: Int, height: Int) throws(ImagingError) {
    guard width * height < minPixels else { return }
    throw ImagingError(
      code: .imageTooSmall,
      message: "--min-pixels is \(PixelCount(minPixels)); \(Subject.source.rawValue) fewer: \(width) × \(height)")
  }
}

/// A number of pixels in words: in megapixels, from a tenth of one on.
private struct PixelCount: CustomStringConvertible {
  let description: String

  init(_ pixels: Int) {
    let (whole, tenth) = (pixels / 100_000).quotientAndRemainder(dividingBy: 10)
    description =
      pixels < 100_000
      ? pixels.of("pixel", "pixels") : tenth == 0 ? whole.of("megapixel", "megapixels") : "\(whole).\(tenth) megapixels"
  }
}
