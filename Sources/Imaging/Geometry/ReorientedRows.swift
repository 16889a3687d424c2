/// The rows of a rotated or flipped picture, which is held whole.
final class ReorientedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let orientation: Orientation
  private let picture: PackedPicture
  private let band: PackedBand
  private var nextRow = 0

  /// Creates a source that makes a picture upright; `held` is the layout in which it is held.
  init(_ source: any RowSource, _ orientation: Orientation, held: PixelLayout) throws(ImagingError) {
    let stored = source.size
    size = orientation.transposes ? stored.transposed : stored
    layout = source.layout
    self.source = source
    self.orientation = orientation
    picture = try PackedPicture(width: stored.width, height: stored.height, layout: held)
    band = PackedBand(width: size.width, layout: held)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    if nextRow == 0 { try readPicture() }
    if nextRow % PackedBand.rows == 0 {
      band.fill(from: picture, source.size, orientation, row: nextRow, height: size.height)
    }
    row.unpack(band.rows[nextRow % PackedBand.rows])
    nextRow += 1
  }

  private func readPicture() throws(ImagingError) {
    let buffer = RowBuffer(width: source.size.width, layout: layout)
    let packed = PackedRow(width: source.size.width, layout: band.layout)
    for row in 0..<source.size.height {
      try source.read(into: buffer.row)
      buffer.row.pack(packed)
      picture.setRow(row, from: packed.bytes)
    }
  }
}
