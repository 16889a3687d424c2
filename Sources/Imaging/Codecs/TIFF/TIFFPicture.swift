/// A picture of a TIFF file, as its directory describes it: what its samples mean, and where they are.
struct TIFFPicture {
  /// What samples mean.
  enum Colours {
    /// Grey, of which 0 is black, or white.
    case grey(isInverted: Bool)
    case rgb
    /// Indices of these pixels, as bytes of red, green, blue and alpha in the order of memory.
    case palette([UInt32])
    /// Cyan, magenta, yellow and black, of which 0 is no ink.
    case cmyk
    /// YCbCr in JPEG, which libtiff converts to RGB.
    case ycbcr

    /// The number of samples, before those of alpha and others.
    var count: Int {
      switch self {
      case .grey, .palette: 1
      case .rgb, .ycbcr: 3
      case .cmyk: 4
      }
    }
  }

  enum Alpha {
    /// Colours are multiplied by it.
    case associated
    case unassociated
  }

  let width, height: Int
  /// The bits of a sample, 1…16.
  let bits: Int
  /// The samples of a pixel in the file.
  let samples: Int
  let colours: Colours
  let alpha: Alpha?
  /// The sample that is alpha, if there is one.
  let alphaSample: Int?
  let compression: TIFFCompression
  let codec: TIFFCodecFields
  /// Whether each sample has strips or tiles of its own.
  let isSeparate: Bool
  let strips: TIFFStrips

  /// The most samples of a pixel.
  private static let maxSamples = 32

  /// Reads the fields of a directory.
  /// - Parameter dividesStrips: Whether large strips are divided to be read. Default: true.
  /// - Throws: `image-truncated`, `image-corrupt`, `unsupported-format`, `image-too-large`, `image-too-small`, `io`, `cancelled`.
  init(
    _ directory: TIFFDirectory, _ file: TIFFFile, limits: ImageLimits, dividesStrips: Bool = true
  ) throws(ImagingError) {
    guard let width = try directory.integer(TIFFTag.width), let height = try directory.integer(TIFFTag.height) else {
      throw .tiff("it does not say its size")
    }
    try limits.check(width: width, height: height)
    (self.width, self.height) = (width, height)
    samples = try directory.integer(TIFFTag.samplesPerPixel) ?? 1
    guard samples > 0 else { throw .tiff("its pixels have no samples") }
    guard samples <= Self.maxSamples else { throw .unsupportedTIFF("\(samples) samples per pixel") }
    compression = try TIFFCompression(directory)
    bits = try Self.bits(directory, samples)
    colours = try Self.colours(directory, compression, bits)
    guard samples >= colours.count else { throw .tiff("its pixels have \(samples.of("sample", "samples"))") }
    (alpha, alphaSample) = try Self.alpha(directory, colours.count..<samples)
    let arrangement = try directory.integer(TIFFTag.planarConfiguration) ?? 1
    guard 1...2 ~= arrangement else { throw .tiff("its samples are arranged in no known way") }
    isSeparate = arrangement == 2 && samples > 1
    try compression.check(bits: bits, samples: isSeparate ? 1 : samples, colours)
    codec = try TIFFCodecFields(directory, file, compression, colours)
    strips = try TIFFStrips(
      directory, file, width: width, height: height,
      pixelBits: bits * (isSeparate ? 1 : samples),
      planes: isSeparate ? Array(0..<colours.count) + (alphaSample.map { [$0] } ?? []) : [0],
      of: isSeparate ? samples : 1, isCompressed: compression != .none, isDivided: dividesStrips)
  }

  private static func bits(_ directory: TIFFDirectory, _ samples: Int) throws(ImagingError) -> Int {
    let bits = try directory.integers(TIFFTag.bitsPerSample, limit: samples) ?? [1]
    guard let first = bits.first, bits.allSatisfy({ $0 == first }) else {
      throw .unsupportedTIFF("samples of different depths")
    }
    let formats = try directory.integers(TIFFTag.sampleFormat, limit: samples) ?? []
    if formats.contains(3) { throw .unsupportedTIFF("floating-point samples") }
    guard formats.allSatisfy({ $0 == 1 || $0 == 4 }) else { throw .unsupportedTIFF("signed or complex samples") }
    guard 1...16 ~= first else { throw .unsupportedTIFF("\(first) bits per sample") }
    return first
  }

  private static func colours(
    _ directory: TIFFDirectory, _ compression: TIFFCompression, _ bits: Int
  ) throws(ImagingError) -> Colours {
    // Some facsimiles do not say what they are, and ink on paper is meant.
    guard let number = try directory.integer(TIFFTag.photometric) ?? (compression.isFacsimile ? 0 : nil) else {
      throw .tiff("it does not say what its samples mean")
    }
    switch number {
    case 0, 1: return .grey(isInverted: number == 0)
    case 2: return .rgb
    case 3:
      guard bits <= 8 else { throw .unsupportedTIFF("a palette of \(bits) bits") }
      return .palette(try palette(directory, bits))
    case 5:
      guard try directory.integer(TIFFTag.inkSet) ?? 1 == 1 else { throw .unsupportedTIFF("inks that are not CMYK") }
      return .cmyk
    case 6 where compression == .jpeg: return .ycbcr
    default:
      let names = [
        4: "a mask", 6: "YCbCr that is not in JPEG", 8: "CIELab", 9: "ICCLab", 10: "ITULab", 32803: "raw of a camera",
        32844: "LogL", 32845: "LogLuv", 34892: "raw of a camera",
      ]
      throw .unsupportedTIFF(names[number] ?? "colours of the kind \(number)")
    }
  }

  /// The pixels of all indices: opaque, and black without a colour.
  private static func palette(_ directory: TIFFDirectory, _ bits: Int) throws(ImagingError) -> [UInt32] {
    let count = 1 << bits
    guard let numbers = try directory.integers(TIFFTag.colourMap, limit: 3 * count), numbers.count == 3 * count else {
      throw .tiff("it has no colours for its indices")
    }
    // Some programs write colours of 8 bits.
    let shift = numbers.contains { $0 > 255 } ? 8 : 0
    var pixels = [UInt32](repeating: 0xFF00_0000, count: 256)
    for index in 0..<count {
      for channel in 0..<3 {
        pixels[index] |= UInt32(truncatingIfNeeded: numbers[channel * count + index] >> shift & 0xFF) << (8 * channel)
      }
    }
    return pixels
  }

  private static func alpha(
    _ directory: TIFFDirectory, _ extra: Range<Int>
  ) throws(ImagingError) -> (Alpha?, sample: Int?) {
    guard !extra.isEmpty, let kinds = try directory.integers(TIFFTag.extraSamples, limit: extra.count) else {
      return (nil, nil)
    }
    for (sample, kind) in zip(extra, kinds) where 1...2 ~= kind {
      return (kind == 1 ? .associated : .unassociated, sample)
    }
    return (nil, nil)
  }
}

/// How the samples of a TIFF are compressed.
enum TIFFCompression: Int {
  case none = 1
  case huffman = 2
  case group3 = 3
  case group4 = 4
  case lzw = 5
  case jpeg = 7
  case deflate = 8
  case packBits = 32773
  case oldDeflate = 32946
  case lzma = 34925
  case zstd = 50000
  case webp = 50001

  fileprivate init(_ directory: TIFFDirectory) throws(ImagingError) {
    let number = try directory.integer(TIFFTag.compression) ?? 1
    guard let compression = TIFFCompression(rawValue: number) else {
      let names = [6: "JPEG of TIFF 5", 34712: "JPEG 2000", 34661: "JBIG", 34887: "LERC", 50002: "JPEG XL"]
      throw .unsupportedTIFF(names[number] ?? "compression \(number)")
    }
    self = compression
  }

  var isFacsimile: Bool { [.huffman, .group3, .group4].contains(self) }

  /// - Parameter samples: The samples that are compressed together.
  fileprivate func check(bits: Int, samples: Int, _ colours: TIFFPicture.Colours) throws(ImagingError) {
    let isSupported =
      switch self {
      case .huffman, .group3, .group4: bits == 1 && samples == 1
      case .jpeg: bits == 8 && samples <= 4
      case .webp: bits == 8 && 3...4 ~= samples
      default: true
      }
    var isPlain = true
    if case .ycbcr = colours { isPlain = samples == 3 }
    guard isSupported, isPlain else {
      throw .unsupportedTIFF("compression \(rawValue) of \(samples.of("sample", "samples")) of \(bits) bits")
    }
  }
}
