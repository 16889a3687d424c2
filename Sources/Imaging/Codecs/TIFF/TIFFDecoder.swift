import CTIFF
import Glibc

/// Decodes the first page of a TIFF with libtiff, which decompresses strips and tiles; everything else is read in Swift.
final class TIFFDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma = ChromaSampling.yuv444
  let metadata: Metadata
  let damage: PictureDamage?

  private let picture: TIFFPicture
  private let samples: TIFFSamples
  /// What libtiff reads before the file.
  private let header: Memory
  private let headerBytes: Int
  private let descriptor: Int32
  private let size: Int64
  private var codec: OpaquePointer?
  /// A row as it is decoded, or the rows of strips or tiles beside each other, plane after plane.
  private var band: Memory?
  /// One of these strips or tiles.
  private var piece: Memory?
  private var packed: PackedRow?
  private var nextRow = 0

  /// Bytes that are overwritten again and again.
  private final class Memory {
    let start: UnsafeMutableRawPointer

    /// - Throws: `image-too-large` when the system has not enough memory.
    init(_ count: Int) throws(ImagingError) {
      guard let start = calloc(count + TIFFSamples.padding, 1) else { throw .noMemoryForTIFF }
      self.start = start
    }

    deinit { free(start) }
  }

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    let container = try TIFFContainer(FileReader(descriptor), limits: limits)
    (self.descriptor, size) = (descriptor, container.file.size)
    (picture, info, damage) = (container.picture, container.info, container.damage)
    let metadata = try container.metadata()
    var isCMYK = false
    if case .cmyk = picture.colours { isCMYK = true }
    samples = TIFFSamples(picture, metadata.colour)
    layout = samples.layout
    self.metadata = isCMYK ? metadata.withoutColourSpace : metadata
    let bytes = TIFFHeader(of: picture, isLittleEndian: container.file.isLittleEndian).bytes
    (header, headerBytes) = (try Memory(bytes.count), bytes.count)
    UnsafeMutableRawBufferPointer(start: header.start, count: headerBytes).copyBytes(from: bytes)
  }

  deinit { ctiff_close(codec) }

  var hasFewColours: Bool {
    if case .palette = picture.colours { return true }
    return picture.bits < 8
  }

  /// The compressed bytes of a strip or tile, the decoded ones of those that are beside each other, what else the library of
  /// a compression holds, and places of strips.
  var wholePictureBytes: Int {
    let strips = picture.strips
    let held =
      switch picture.compression {
      // Coefficients of a progressive picture, which libtiff limits.
      case .jpeg: min(2 * strips.decodedBytes, 100 << 20)
      case .webp: 2 * strips.decodedBytes
      default: 0
      }
    return (strips.places.lazy.map(\.count).max() ?? 0) + bandBytes + (strips.isReadByRow ? 0 : strips.decodedBytes)
      + held + 48 * strips.places.count
  }

  private var bandBytes: Int {
    let strips = picture.strips
    return strips.isReadByRow ? strips.rowBytes : strips.bandRowBytes * strips.height * strips.planes.count
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    let strips = picture.strips
    var isYCbCr = false
    if case .ycbcr = picture.colours { isYCbCr = true }
    var failure = CTIFF_OK
    var source = ctiff_source()
    source.header = UnsafePointer(header.start.assumingMemoryBound(to: UInt8.self))
    source.header_size = Int64(headerBytes)
    (source.descriptor, source.size) = (descriptor, size)
    source.max_allocation = Int64(wholePictureBytes + headerBytes + Self.smallBytes)
    (source.row_size, source.tile_size) = (Int64(strips.rowBytes), Int64(strips.decodedBytes))
    source.converts_jpeg = isYCbCr ? 1 : 0
    codec = ctiff_open(&source, &failure)
    try check(failure)
    band = try Memory(bandBytes)
    piece = strips.isReadByRow ? nil : try Memory(strips.decodedBytes)
    packed = PackedRow(width: info.width, layout: layout)
  }

  /// What libtiff allocates whatever the picture is, at once.
  private static let smallBytes = 1 << 20

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed, let band else { return }
    let strips = picture.strips
    if strips.isReadByRow {
      try check(ctiff_read_row(codec, UInt32(nextRow), band.start))
      samples.convert(band.start, planeBytes: 0, to: packed)
    } else {
      let (index, line) = nextRow.quotientAndRemainder(dividingBy: strips.height)
      if line == 0 { try readBand(index) }
      samples.convert(
        band.start + line * strips.bandRowBytes, planeBytes: strips.bandRowBytes * strips.height, to: packed)
    }
    nextRow += 1
    row.unpack(packed)
    guard layout.isGrey, !row.layout.isGrey else { return }
    row.green.update(from: row.red, count: row.vectors)
    row.blue.update(from: row.red, count: row.vectors)
  }

  /// Every row has been decoded. What follows the first page is not looked at.
  func finish() throws(ImagingError) {}

  /// Decodes the strips or tiles beside each other, of all planes.
  private func readBand(_ index: Int) throws(ImagingError) {
    guard let band, let piece else { return }
    let strips = picture.strips
    for plane in 0..<strips.planes.count {
      for column in 0..<strips.columns {
        let number = UInt32((plane * strips.rows + index) * strips.columns + column)
        let rows = strips.isTiled ? strips.height : min(strips.height, info.height - index * strips.height)
        let count = rows * strips.rowBytes
        try check(
          strips.isTiled
            ? ctiff_read_tile(codec, number, piece.start, Int64(count))
            : ctiff_read_strip(codec, number, piece.start, Int64(count)))
        for row in 0..<rows {
          let place = (plane * strips.height + row) * strips.bandRowBytes + column * strips.rowBytes
          (band.start + place).copyMemory(from: piece.start + row * strips.rowBytes, byteCount: strips.rowBytes)
        }
      }
    }
  }

  private func check(_ failure: ctiff_failure) throws(ImagingError) {
    switch failure {
    case CTIFF_OK: return
    case CTIFF_IO: throw .io(errno, doing: "the picture cannot be read")
    case CTIFF_NO_MEMORY: throw .noMemoryForTIFF
    case CTIFF_UNSUPPORTED:
      throw .unsupportedTIFF("libtiff was built without compression \(picture.compression.rawValue)")
    default: throw .tiff("its data are damaged")
    }
  }
}

extension ImagingError {
  fileprivate static let noMemoryForTIFF = ImagingError(
    code: .imageTooLarge, message: "there is no memory to decode the TIFF")
}
