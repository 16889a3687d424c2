/// What a picture may at most be.
package struct ImageLimits: Sendable {
  /// Width times height, of sources and results. Default 268 402 689 (16 383 × 16 383).
  package var maxPixels: Int
  /// What is shared by all pictures that cannot pass row by row.
  package var memory: WholePictureMemory

  /// Pixels of a side at most, libpng's own default: a row is held in memory.
  package static let maxSide = 1_000_000

  /// Limits, by default those above, with memory of their own.
  package init(maxPixels: Int = 268_402_689, memory: WholePictureMemory = WholePictureMemory()) {
    self.maxPixels = maxPixels
    self.memory = memory
  }

  /// Scans of one JPEG: 500, from 4 megapixels on fewer, and 100 from 20 on. A scan costs a walk over the whole picture
  /// and a few bytes of file, so many of them are an attack; cameras and encoders write up to 20.
  static func maxScans(of info: ImageInfo) -> Int { min(max(2_000_000_000 / (info.width * info.height), 100), 500) }

  /// Bytes of metadata (EXIF, XMP, ICC, each and in sum) that are carried along; what is beyond is left out.
  static let maxMetadataBytes = 4 << 20

  /// Whose size is checked.
  enum Subject: String {
    case source = "the picture has"
    /// Of the recipe or of one of its functions.
    case result = "the recipe gives the picture"
  }

  /// Throws `image-too-large` unless the size is within the limits, `image-corrupt` when a side is 0.
  func check(_ size: PictureSize, of subject: Subject) throws(ImagingError) {
    let (width, height) = (size.width, size.height)
    guard width > 0, height > 0 else {
      throw ImagingError(code: .imageCorrupt, message: "the picture has no pixels (\(width) × \(height))")
    }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= maxPixels else {
      let count = overflow ? "more than \(Int.max)" : "\(pixels)"
      throw ImagingError(
        code: .imageTooLarge,
        message: "max-pixels is \(maxPixels); \(subject.rawValue) \(count) (\(width) × \(height))")
    }
    guard max(width, height) <= Self.maxSide else {
      throw ImagingError(
        code: .imageTooLarge,
        message: "a side may have \(Self.maxSide) pixels; \(subject.rawValue) \(width) × \(height)")
    }
  }

  /// The same for the size of a source.
  func check(width: Int, height: Int) throws(ImagingError) {
    try check(PictureSize(width: width, height: height), of: .source)
  }
}
