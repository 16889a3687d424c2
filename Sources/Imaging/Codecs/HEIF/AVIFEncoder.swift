import CHEIF
import Glibc

/// Encodes AVIF with libheif and libaom, lossy, 8 bits per sample, in sRGB or with the source's profile.
final class AVIFEncoder: RowEncoder {
  /// The largest side and the most pixels of a picture that libavif reads, and with it browsers and Pillow
  /// (`AVIF_DEFAULT_IMAGE_DIMENSION_LIMIT`, `AVIF_DEFAULT_IMAGE_SIZE_LIMIT`). AV1 itself has sides of up to 65536.
  static let maxSide = 32_768
  static let maxPixels = 16_384 * 16_384

  /// libaom's speed, of 0 (small files) to 9.
  private static let speed: Int32 = 8

  private let descriptor: Int32
  private let settings: EncodeSettings
  private let codec: OpaquePointer
  private let packed: PackedRow
  private var nextRow: Int32 = 0

  /// The memory of libheif and libaom, as measured with 1.15.1 and 3.6.0 for pictures of noise: 26 bytes for each pixel in 4:2:0,
  /// 30 with alpha, 50 with alpha in 4:4:4.
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int {
    settings.info.width * settings.info.height * (settings.chroma == .yuv444 ? 60 : settings.layout.hasAlpha ? 36 : 32)
  }

  /// Allocates the picture. Nothing is written before `finish`.
  init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    let (width, height) = (settings.info.width, settings.info.height)
    guard max(width, height) <= Self.maxSide, width * height <= Self.maxPixels else {
      throw ImagingError(
        code: .imageTooLarge,
        message:
          "an AVIF's sides are at most \(Self.maxSide), and its pixels \(Self.maxPixels): browsers read no larger ones; "
          + "the picture is \(width) × \(height)")
    }
    try CodedPicture.checkMemory(settings.info.size, 8)
    guard OptionalLibrary.libheif.isLoaded else { throw OptionalLibrary.libheif.missing("AVIF is encoded") }
    (self.descriptor, self.settings) = (descriptor, settings)
    packed = PackedRow(
      width: width, layout: PixelLayout(isGrey: false, hasAlpha: settings.layout.hasAlpha, is16Bit: false))
    let metadata = EncodedMetadata(settings.metadata)
    guard let codec = metadata.withSettings(settings, speed: Self.speed, { cheif_encoder_create($0) }) else {
      throw Self.noMemory
    }
    self.codec = codec
  }

  deinit { cheif_encoder_free(codec) }

  func write(_ row: PixelRow, isCancelled: () -> Bool) throws(ImagingError) {
    row.pack(packed)
    cheif_set_row(codec, nextRow, packed.bytes.assumingMemoryBound(to: UInt8.self))
    nextRow += 1
  }

  func finish(isCancelled: () -> Bool) throws(ImagingError) {
    if isCancelled() { throw .cancelled }
    let metadata = EncodedMetadata(settings.metadata)
    let failure = metadata.withSettings(settings, speed: Self.speed) { cheif_encode(codec, $0, descriptor) }
    switch failure {
    case CHEIF_OK: return
    case CHEIF_IO: throw .io(errno, doing: "the result cannot be written")
    case CHEIF_NO_MEMORY: throw Self.noMemory
    default: throw ImagingError(code: .filterFailed, message: "the AVIF cannot be encoded: error \(failure.rawValue)")
    }
  }

  private static var noMemory: ImagingError {
    ImagingError(code: .imageTooLarge, message: "there is no memory to encode the AVIF")
  }
}

/// The metadata of an AVIF.
private struct EncodedMetadata {
  private var (profile, exif, xmp): ([UInt8], [UInt8], [UInt8]) = ([], [], [])

  init(_ metadata: Metadata) {
    for item in metadata.items {
      switch item {
      case .icc(let bytes): profile = bytes
      case .exif(let bytes): exif = bytes
      case .xmp(let bytes): xmp = bytes
      case .extendedXMP, .iptc, .pngColour, .density: break
      }
    }
  }

  /// Calls a function of the encoder with its settings.
  func withSettings<Result>(
    _ settings: EncodeSettings, speed: Int32, _ call: (UnsafePointer<cheif_settings>) -> Result
  ) -> Result {
    profile.withUnsafeBufferPointer { profile in
      exif.withUnsafeBufferPointer { exif in
        xmp.withUnsafeBufferPointer { xmp in
          var values = cheif_settings()
          (values.width, values.height) = (Int32(settings.info.width), Int32(settings.info.height))
          values.has_alpha = settings.layout.hasAlpha ? 1 : 0
          values.quality = Int32(settings.quality)
          values.speed = speed
          values.full_chroma = settings.chroma == .yuv444 ? 1 : 0
          if !profile.isEmpty { (values.profile, values.profile_size) = (profile.baseAddress, profile.count) }
          if !exif.isEmpty { (values.exif, values.exif_size) = (exif.baseAddress, exif.count) }
          if !xmp.isEmpty { (values.xmp, values.xmp_size) = (xmp.baseAddress, xmp.count) }
          return call(&values)
        }
      }
    }
  }
}
