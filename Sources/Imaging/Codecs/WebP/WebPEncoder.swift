import CWebP
import Glibc

/// Encodes WebP (RFC 9649) with libwebp: lossless from lossless WebP, else lossy, in 4:2:0 with exact alpha.
final class WebPEncoder: RowEncoder {
  /// The largest side of the format (`WEBP_MAX_DIMENSION`).
  static let maxSide = 16_383

  private let descriptor: Int32
  private let settings: EncodeSettings
  private let picture: UnsafeMutablePointer<WebPPicture>
  private var config = WebPConfig()
  private let packed: PackedRow
  private var nextRow = 0

  /// libwebp's preset for lossless pictures, of 0 (fast) to 9 (small): slower ones make no smaller files.
  private static let losslessLevel: Int32 = 3

  /// The memory that libwebp uses to encode a picture of noise, as measured with libwebp 1.2.4.
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int {
    settings.info.width * settings.info.height * (settings.isLossless ? 36 : settings.layout.hasAlpha ? 44 : 24)
  }

  /// Allocates the picture. Nothing is written before `finish`.
  init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    let (width, height) = (settings.info.width, settings.info.height)
    guard max(width, height) <= Self.maxSide else {
      throw ImagingError(
        code: .imageTooLarge, message: "a WebP's sides are at most \(Self.maxSide); the picture is \(width) × \(height)"
      )
    }
    self.descriptor = descriptor
    self.settings = settings
    picture = .allocate(capacity: 1)
    picture.initialize(to: WebPPicture())
    packed = PackedRow(
      width: width, layout: PixelLayout(isGrey: false, hasAlpha: settings.layout.hasAlpha, is16Bit: false))
    guard WebPPictureInit(picture) != 0, WebPConfigInit(&config) != 0 else { throw Self.noMemory }
    if settings.isLossless {
      WebPConfigLosslessPreset(&config, Self.losslessLevel)
      config.exact = 1
    } else {
      config.quality = Float(settings.quality)
    }
    picture.pointee.use_argb = 1
    (picture.pointee.width, picture.pointee.height) = (Int32(width), Int32(height))
    guard WebPPictureAlloc(picture) != 0 else { throw Self.noMemory }
  }

  deinit {
    WebPPictureFree(picture)
    picture.deallocate()
  }

  func write(_ row: PixelRow, isCancelled: () -> Bool) throws(ImagingError) {
    row.pack(packed)
    let target = picture.pointee.argb + nextRow * Int(picture.pointee.argb_stride)
    let opaque: UInt32 = settings.layout.hasAlpha ? 0 : 0xFF00_0000
    for column in 0..<settings.info.width {
      let pixel = packed.bytes.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self)
      // Exchanges red, the lowest byte, and blue.
      target[column] = pixel & 0xFF00_FF00 | (pixel & 0xFF) << 16 | (pixel >> 16) & 0xFF | opaque
    }
    nextRow += 1
  }

  func finish(isCancelled: () -> Bool) throws(ImagingError) {
    var writer = WebPMemoryWriter()
    WebPMemoryWriterInit(&writer)
    defer { WebPMemoryWriterClear(&writer) }
    guard encode(into: &writer, isCancelled: isCancelled) else { throw failure }
    let encoded = UnsafeRawBufferPointer(start: writer.mem, count: writer.size)
    for piece in WebPMuxer(encoded, settings).pieces { try write(piece) }
  }

  private func encode(into writer: inout WebPMemoryWriter, isCancelled: () -> Bool) -> Bool {
    withoutActuallyEscaping(isCancelled) { isCancelled in
      var isCancelled = isCancelled
      return withUnsafeMutablePointer(to: &isCancelled) { pointer in
        withUnsafeMutablePointer(to: &writer) { writer in
          picture.pointee.writer = WebPMemoryWrite
          picture.pointee.custom_ptr = UnsafeMutableRawPointer(writer)
          picture.pointee.user_data = UnsafeMutableRawPointer(pointer)
          picture.pointee.progress_hook = { _, picture in
            guard let pointer = picture?.pointee.user_data else { return 1 }
            return pointer.assumingMemoryBound(to: (() -> Bool).self).pointee() ? 0 : 1
          }
          return WebPEncode(&config, picture) != 0
        }
      }
    }
  }

  private func write(_ bytes: [UInt8]) throws(ImagingError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done) }
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        throw .io(errno, doing: "the result cannot be written")
      }
    }
  }

  private var failure: ImagingError {
    switch picture.pointee.error_code {
    case VP8_ENC_ERROR_USER_ABORT: .cancelled
    case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: Self.noMemory
    case let code: ImagingError(code: .filterFailed, message: "the WebP cannot be encoded: error \(code.rawValue)")
    }
  }

  private static var noMemory: ImagingError {
    ImagingError(code: .imageTooLarge, message: "there is no memory to encode the WebP")
  }
}
