import CPNG

/// Decodes PNG (W3C PNG, third edition) with libpng: all colour types and depths, interlaced or not.
final class PNGDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma = ChromaSampling.yuv444
  let hasFewColours: Bool
  let metadata: Metadata

  private let codec: png_structp
  private let header: png_infop
  private let failure: PNGFailure
  private var packed: PackedRow?
  private var picture: PackedPicture?
  private var nextRow = 0
  private var accepted: AcceptedDamage
  private let descriptor: Int32
  private let limits: ImageLimits

  /// The longest chunk besides IDAT.
  static let maxChunkBytes = 16 << 20

  /// The most bytes of rows that are inflated at once, by libdeflate: those of 2.8 megapixels of 8 bits without alpha. Other pictures
  /// are inflated by zlib, row by row.
  private static let maxInflatedBytes = 8 << 20

  /// Skips every ancillary chunk, whose metadata `PNGMetadataReader` reads, but for the number of frames; returns an error for
  /// unknown critical chunks (W3C PNG, third edition, § 5.4).
  private static let chunkCallback: png_user_chunk_ptr = { codec, chunk in
    guard let codec, let chunk, chunk.pointee.name.0 & 0x20 != 0 else { return -1 }
    let name = withUnsafeBytes(of: chunk.pointee.name) { Array($0.prefix(4)) }
    if name == PNGChunk.animation, chunk.pointee.size == 8, let data = chunk.pointee.data,
      let stream = png_get_error_ptr(codec)?.assumingMemoryBound(to: cpng_stream.self), stream.pointee.frames == 0
    {
      stream.pointee.frames = UInt32(UnsafeBufferPointer(start: data, count: 4).bigEndianInteger)
    }
    return 1
  }

  convenience init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    try self.init(descriptor, limits, ignoresSum: false)
  }

  private init(_ descriptor: Int32, _ limits: ImageLimits, ignoresSum: Bool) throws(ImagingError) {
    let bytes = limits.damaged == .accept ? try FileReader(descriptor).size() : nil
    let failure = PNGFailure(
      try StdioStream(reading: descriptor), acceptsDamageIn: bytes, ignoresSum: ignoresSum)
    (self.descriptor, self.limits) = (descriptor, limits)
    accepted = AcceptedDamage(limits.damaged)
    var (codec, header): (png_structp?, png_infop?)
    let side = UInt32(clamping: min(max(limits.maxPixels, 1), ImageLimits.maxSide))
    do throws(ImagingError) {
      guard
        cpng_open_reader(
          failure.storage, &codec, &header, side, Self.maxChunkBytes, nil, Self.chunkCallback) == 1,
        let codec, let header
      else { throw failure.whileDecoding }
      let isRead = cpng_read_info(codec, header) == 1
      let (width, height) = (Int(png_get_image_width(codec, header)), Int(png_get_image_height(codec, header)))
      // The size is known even when the library rejects it.
      if isRead || width > 0 && height > 0 { try limits.check(width: width, height: height) }
      guard isRead else { throw failure.whileDecoding }
      let frames = max(Int(failure.storage.pointee.frames), 1)
      info = ImageInfo(format: .png, width: width, height: height, frames: frames)
      layout = Self.layout(codec, header)
      // Palettes never have more than 8 bits.
      hasFewColours =
        png_get_bit_depth(codec, header) < 8 || Int32(png_get_color_type(codec, header)) == PNG_COLOR_TYPE_PALETTE
      self.codec = codec
      self.header = header
    } catch {
      png_destroy_read_struct(&codec, &header, nil)
      throw error
    }
    self.failure = failure
    metadata = PNGMetadataReader.metadata(of: descriptor)
  }

  deinit {
    var (codec, header): (png_structp?, png_infop?) = (codec, header)
    png_destroy_read_struct(&codec, &header, nil)
  }

  /// Where rows are missing says more than a wrong checksum.
  var damage: PictureDamage? { failure.damage.map { .worse(accepted.damage, $0) } ?? accepted.damage }

  /// The pixels of an interlaced picture, as colour, which may be requested.
  var wholePictureBytes: Int {
    guard png_get_interlace_type(codec, header) != UInt8(PNG_INTERLACE_NONE) else { return 0 }
    var colour = layout
    colour.isGrey = false
    return PackedPicture.bytes(width: info.width, height: info.height, layout: colour)
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    var passes: Int32 = 1
    guard cpng_start_read(codec, header, colour ? 1 : 0, Self.maxInflatedBytes, &passes) == 1 else {
      throw failure.whileDecoding
    }
    let delivered = PixelLayout(isGrey: layout.isGrey && !colour, hasAlpha: layout.hasAlpha, is16Bit: layout.is16Bit)
    packed = PackedRow(width: info.width, layout: delivered)
    if passes > 1 { picture = try readPasses(Int(passes), of: delivered, isCancelled: isCancelled) }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed else { throw failure.whileDecoding }
    if let picture {
      picture.copyRow(nextRow, to: packed.bytes)
    } else if accepted.isAtEnd {
      packed.clear()
    } else if cpng_read_row(codec, packed.bytes) != 1 {
      if hasAllRows || hasLastRow(in: packed) {
        try endBehindRows()
      } else {
        try accepted.end(with: failure.whileDecoding, hasRows: nextRow > 0, .rows(nextRow, of: info.height))
        packed.clear()
      }
    }
    nextRow += 1
    row.unpack(packed)
  }

  /// Gets the last row where the checksum of all pixels is wrong, with which libpng does not deliver it: the picture is decoded
  /// again, without the checksum.
  /// - Returns: Whether that is the next row, and it could be decoded.
  private func hasLastRow(in packed: PackedRow) -> Bool {
    guard accepted.isPossible, failure.isWrongChecksum, nextRow + 1 == info.height,
      let other = try? PNGDecoder(descriptor, limits, ignoresSum: true)
    else { return false }
    var passes: Int32 = 1
    let isColoured = layout.isGrey && !packed.layout.isGrey
    guard cpng_start_read(other.codec, other.header, isColoured ? 1 : 0, 0, &passes) == 1 else { return false }
    return (0...nextRow).allSatisfy { row in
      cpng_read_row(other.codec, packed.bytes) == 1 || row == nextRow && other.hasAllRows
    }
  }

  func finish() throws(ImagingError) {
    if accepted.isAtEnd || cpng_read_end(codec) == 1 { return }
    try endBehindRows()
  }

  /// Whether the rows of all passes have been delivered: with the last one, and after it, libpng reads the end of the pixels.
  private var hasAllRows: Bool {
    png_get_current_row_number(codec) == UInt32(info.height) || png_get_current_pass_number(codec) > 6
  }

  private func endBehindRows() throws(ImagingError) {
    let error = failure.whileDecoding
    if failure.isWrongChecksum {
      try accepted.end(with: error, hasRows: true, .anywhere)
    } else {
      try accepted.endAfterRows(with: error)
    }
  }

  /// Reads the passes of an interlaced picture, each of which covers the whole picture. Where passes may be missing, each fills
  /// what later ones refine.
  private func readPasses(
    _ passes: Int, of layout: PixelLayout, isCancelled: () -> Bool
  ) throws(ImagingError) -> PackedPicture {
    let fillsPasses = accepted.isPossible
    let picture = try PackedPicture(width: info.width, height: info.height, layout: layout)
    for pass in 1...passes {
      for row in 0..<info.height {
        if row % 8 == 0, isCancelled() { throw .cancelled }
        let isRead =
          fillsPasses ? cpng_fill_row(codec, picture.row(row)) : cpng_read_row(codec, picture.row(row))
        guard isRead == 1 else {
          if hasAllRows {
            try endBehindRows()
            return picture
          }
          let place: PictureDamage.Place = pass == 1 ? .rows(row, of: info.height) : .refinement("pass", number: pass)
          try accepted.end(with: failure.whileDecoding, hasRows: pass > 1 || row > 0, place)
          return picture
        }
      }
    }
    return picture
  }

  private static func layout(_ codec: png_structp, _ header: png_infop) -> PixelLayout {
    let type = Int32(png_get_color_type(codec, header))
    let isTransparent = png_get_valid(codec, header, UInt32(PNG_INFO_tRNS)) != 0
    return PixelLayout(
      isGrey: type & PNG_COLOR_MASK_COLOR == 0,
      hasAlpha: type & PNG_COLOR_MASK_ALPHA != 0 || isTransparent,
      is16Bit: png_get_bit_depth(codec, header) == 16)
  }
}
