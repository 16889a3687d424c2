import CPNG

/// Encodes PNG (W3C PNG, third edition) with libpng: grey or colour, with or without alpha, 8 or 16 bits.
final class PNGEncoder: RowEncoder {
  /// The level of zlib: photographs get the size of libpng's defaults in a fifth of the time; level 3 takes half as long
  /// again for 2 % (`Documentation/performance.md`).
  private static let level: Int32 = 2

  private let codec: png_structp
  private let header: png_infop
  private let failure: PNGFailure
  private let stream: StdioStream
  private let packed: PackedRow

  init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    let stream = try StdioStream(writing: descriptor)
    let failure = PNGFailure(stream)
    var (codec, header): (png_structp?, png_infop?)
    // Colours that repeat exactly compress better without row filters.
    let filters = settings.hasFewColours ? PNG_FILTER_NONE : PNG_FILTER_SUB | PNG_FILTER_UP
    do throws(ImagingError) {
      guard
        cpng_open_writer(failure.storage, &codec, &header, Self.level, filters) == 1,
        let codec, let header
      else { throw failure.whileEncoding }
      try Self.start(codec, header, failure, settings)
      self.codec = codec
      self.header = header
    } catch {
      png_destroy_write_struct(&codec, &header)
      throw error
    }
    self.failure = failure
    self.stream = stream
    packed = PackedRow(width: settings.info.width, layout: settings.layout)
  }

  deinit {
    var (codec, header): (png_structp?, png_infop?) = (codec, header)
    png_destroy_write_struct(&codec, &header)
  }

  func write(_ row: PixelRow) throws(ImagingError) {
    row.pack(packed)
    guard cpng_write_row(codec, packed.bytes) == 1 else { throw failure.whileEncoding }
  }

  func finish(isCancelled: () -> Bool) throws(ImagingError) {
    guard cpng_write_end(codec, header) == 1 else { throw failure.whileEncoding }
    try stream.flush()
  }

  private static func start(
    _ codec: png_structp, _ header: png_infop, _ failure: PNGFailure, _ settings: EncodeSettings
  ) throws(ImagingError) {
    let layout = settings.layout
    let type =
      (layout.isGrey ? 0 : PNG_COLOR_MASK_COLOR) | (layout.hasAlpha ? PNG_COLOR_MASK_ALPHA : 0)
    let depth: Int32 = layout.is16Bit ? 16 : 8
    let (width, height) = (UInt32(settings.info.width), UInt32(settings.info.height))
    guard cpng_write_header(codec, header, width, height, depth, type) == 1 else { throw failure.whileEncoding }
    for chunk in settings.metadata.items.compactMap(PNGChunk.chunk) {
      guard cpng_write_chunk(codec, chunk.name, chunk.bytes, chunk.bytes.count) == 1 else {
        throw failure.whileEncoding
      }
    }
    guard cpng_start_write(codec, depth, !layout.isGrey && !layout.hasAlpha ? 1 : 0) == 1 else {
      throw failure.whileEncoding
    }
  }
}
