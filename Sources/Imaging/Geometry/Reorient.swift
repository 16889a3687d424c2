/// Flips and rotates a picture: to the upright orientation that EXIF gives, and for `rotate()`, `flip()` and `flop()`.
///
/// A horizontal flip is done row by row. For all others the whole picture is held, packed.
struct Reorient: RowStage {
  let orientation: Orientation
  /// Whether the picture is held with 16 bits per sample even when its source has 8.
  private var holds16Bit = false

  init(orientation: Orientation) { self.orientation = orientation }

  var window: RowWindow { orientation == .flipHorizontal ? .row : .picture }
  var movesPixelsOnly: Bool { true }
  var transposes: Bool { orientation.transposes }

  var holding16Bit: any RowStage {
    var result = self
    result.holds16Bit = true
    return result
  }

  func size(after size: PictureSize) -> PictureSize { transposes ? size.transposed : size }

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    guard window == .picture else { return 0 }
    return PackedPicture.bytes(width: size.width, height: size.height, layout: held(layout))
  }

  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource {
    guard window == .picture else { return FilteredRows(source, HorizontalFlip()) }
    return try ReorientedRows(source, orientation, held: held(source.layout))
  }

  private func held(_ layout: PixelLayout) -> PixelLayout {
    var held = layout
    held.is16Bit = held.is16Bit || holds16Bit
    return held
  }
}

/// Exchanges left and right in a row.
private struct HorizontalFlip: RowFilter {
  func apply(to row: PixelRow) {
    for plane in 0..<row.planeCount {
      var line = UnsafeMutableBufferPointer(start: row.samples(plane), count: row.width)
      line.reverse()
    }
  }
}

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
