/// Turns what another decoder reads, so that the rest of the pass sees an upright picture.
///
/// A mirrored picture is turned row by row. All others are held whole, packed as they are stored.
final class UprightDecoder: RowDecoder {
  let info: ImageInfo
  var layout: PixelLayout { stored.layout }
  var chroma: ChromaSampling {
    orientation.exchangesSides
      ? ChromaSampling(horizontal: stored.chroma.vertical, vertical: stored.chroma.horizontal) : stored.chroma
  }
  var hasFewColours: Bool { stored.hasFewColours }
  var isLossless: Bool { stored.isLossless }
  var metadata: Metadata { orientation.exchangesSides ? stored.metadata.turned : stored.metadata }

  private let stored: any RowDecoder
  private let orientation: Orientation
  private var buffer: RowBuffer?
  private var picture: WholePicture?
  private var band: PackedBand?
  private var nextRow = 0

  /// A decoder of a picture that must be turned.
  init(_ stored: any RowDecoder, _ orientation: Orientation) {
    self.stored = stored
    self.orientation = orientation
    let (width, height) = (stored.info.width, stored.info.height)
    info = ImageInfo(
      format: stored.info.format, width: orientation.exchangesSides ? height : width,
      height: orientation.exchangesSides ? width : height, frames: stored.info.frames)
  }

  var wholePictureBytes: Int {
    guard orientation != .mirrored else { return stored.wholePictureBytes }
    var colour = layout
    colour.isGrey = false
    return stored.wholePictureBytes + WholePicture.bytes(width: info.width, height: info.height, layout: colour)
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    try stored.start(colour: colour, isCancelled: isCancelled)
    let (width, height) = (stored.info.width, stored.info.height)
    let delivered = PixelLayout(isGrey: layout.isGrey && !colour, hasAlpha: layout.hasAlpha, isDeep: layout.isDeep)
    let buffer = RowBuffer(width: width, layout: delivered)
    self.buffer = buffer
    band = PackedBand(width: info.width, layout: delivered)
    guard orientation != .mirrored else { return }
    let picture = try WholePicture(width: width, height: height, layout: delivered)
    let packed = PackedRow(width: width, layout: delivered)
    for row in 0..<height {
      if row % 8 == 0, isCancelled() { throw .cancelled }
      try stored.read(into: buffer.row)
      buffer.row.pack(packed)
      picture.setRow(row, from: packed.bytes)
    }
    self.picture = picture
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let buffer, let band else { return }
    if let picture {
      if nextRow % PackedBand.rows == 0 {
        band.fill(from: picture, stored.info, orientation, row: nextRow, height: info.height)
      }
      row.unpack(band.rows[nextRow % PackedBand.rows])
    } else {
      try stored.read(into: buffer.row)
      buffer.row.pack(band.rows[0])
      band.mirrorFirstRow()
      row.unpack(band.rows[0])
    }
    nextRow += 1
  }

  func finish() throws(ImagingError) { try stored.finish() }
}
