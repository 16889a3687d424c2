import CPNG

/// A PNG file that is written row by row. libpng writes all chunks; libdeflate makes the contents of those of pixels,
/// unless the picture has few colours or is large.
final class PNGWriter {
  /// The level of zlib: photographs get the size of libpng's defaults in a fifth of the time; level 3 takes half as long
  /// again for 2 % (`Documentation/performance.md`).
  private static let level: Int32 = 2
  /// The level for indices: those of smoothed text take 57 % of the bytes of level 2, those of photographs 99 %, in twice the time.
  private static let paletteLevel: Int32 = 6

  private let codec: png_structp
  private let header: png_infop
  private let failure: PNGFailure
  private let stream: StdioStream
  /// What compresses packed pixels; nil when libpng does.
  private let rows: PNGRows?

  /// Writes the header and the metadata.
  /// - Parameter palette: The colours of which rows are indices; nil, the default, when they are packed pixels.
  init(_ descriptor: Int32, _ settings: EncodeSettings, palette: [IndexedPicture.Colour]? = nil) throws(ImagingError) {
    let stream = try StdioStream(writing: descriptor)
    let failure = PNGFailure(stream)
    var (codec, header): (png_structp?, png_infop?)
    // Colours that repeat exactly compress better without row filters.
    let hasFewColours = settings.hasFewColours || palette != nil
    let level = palette == nil ? Self.level : Self.paletteLevel
    let filters = hasFewColours ? PNG_FILTER_NONE : PNG_FILTER_SUB | PNG_FILTER_UP
    do throws(ImagingError) {
      guard
        cpng_open_writer(failure.storage, &codec, &header, level, filters) == 1,
        let codec, let header
      else { throw failure.whileEncoding }
      try Self.start(codec, header, failure, settings, palette)
      rows = hasFewColours ? nil : try PNGRows(settings.info.size, settings.layout)
      self.codec = codec
      self.header = header
    } catch {
      png_destroy_write_struct(&codec, &header)
      throw error
    }
    self.failure = failure
    self.stream = stream
  }

  deinit {
    var (codec, header): (png_structp?, png_infop?) = (codec, header)
    png_destroy_write_struct(&codec, &header)
  }

  /// Writes a row of packed pixels, or of indices of a byte each.
  func write(_ row: UnsafeRawPointer) throws(ImagingError) {
    if let rows {
      rows.add(row)
    } else if cpng_write_row(codec, row) != 1 {
      throw failure.whileEncoding
    }
  }

  /// Completes the file; all bytes have been written to the system when it returns.
  func finish() throws(ImagingError) {
    if let rows {
      try rows.finish { (bytes) throws(ImagingError) in
        let content = UnsafeBufferPointer(rebasing: bytes)
        guard cpng_write_chunk(codec, PNGChunk.data, content.baseAddress, content.count) == 1 else {
          throw failure.whileEncoding
        }
      }
      guard cpng_write_chunk(codec, PNGChunk.end, nil, 0) == 1 else { throw failure.whileEncoding }
    } else if cpng_write_end(codec, header) != 1 {
      throw failure.whileEncoding
    }
    try stream.flush()
  }

  private static func start(
    _ codec: png_structp, _ header: png_infop, _ failure: PNGFailure, _ settings: EncodeSettings,
    _ palette: [IndexedPicture.Colour]?
  ) throws(ImagingError) {
    let layout = settings.layout
    let type =
      palette != nil
      ? PNG_COLOR_TYPE_PALETTE
      : (layout.isGrey ? 0 : PNG_COLOR_MASK_COLOR) | (layout.hasAlpha ? PNG_COLOR_MASK_ALPHA : 0)
    let depth: Int32 = palette.map { indexBits($0.count) } ?? (layout.is16Bit ? 16 : 8)
    let (width, height) = (UInt32(settings.info.width), UInt32(settings.info.height))
    guard cpng_write_header(codec, header, width, height, depth, type) == 1 else { throw failure.whileEncoding }
    // Those of colours must precede a palette (§ 5.6).
    for chunk in settings.metadata.items.compactMap(PNGChunk.chunk) {
      guard cpng_write_chunk(codec, chunk.name, chunk.bytes, chunk.bytes.count) == 1 else {
        throw failure.whileEncoding
      }
    }
    if let palette {
      let bytes = palette.flatMap { [$0.x, $0.y, $0.z, $0.w] }
      guard cpng_set_palette(codec, header, bytes, Int32(palette.count)) == 1 else { throw failure.whileEncoding }
    }
    let hasFiller = palette == nil && !layout.isGrey && !layout.hasAlpha
    guard cpng_start_write(codec, header, depth, hasFiller ? 1 : 0) == 1 else { throw failure.whileEncoding }
  }

  /// The fewest bits for indices of so many colours.
  private static func indexBits(_ count: Int) -> Int32 { count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8 }
}
