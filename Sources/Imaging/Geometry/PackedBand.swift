/// A few rows of an upright picture, gathered from a stored one. Several at a time, because the pixels of a column lie far
/// apart in memory and each shares a cache line with its neighbours.
final class PackedBand {
  /// Rows that are gathered at a time.
  static let rows = 16

  let rows: [PackedRow]
  private let width: Int
  /// Channels and depth.
  let layout: PixelLayout

  /// Allocates rows of `width` pixels.
  init(width: Int, layout: PixelLayout) {
    self.width = width
    self.layout = layout
    rows = (0..<Self.rows).map { _ in PackedRow(width: width, layout: layout) }
  }

  /// Gathers the rows of the upright picture from `row` on.
  func fill(from picture: PackedPicture, _ stored: PictureSize, _ orientation: Orientation, row: Int, height: Int) {
    let count = min(Self.rows, height - row)
    switch layout.packedBytes {
    case 1: fill(from: picture, stored, orientation, row, count, UInt8.self)
    case 2: fill(from: picture, stored, orientation, row, count, UInt16.self)
    case 4: fill(from: picture, stored, orientation, row, count, UInt32.self)
    default: fill(from: picture, stored, orientation, row, count, UInt64.self)
    }
  }

  private func fill<Pixel: BitwiseCopyable>(
    from picture: PackedPicture, _ stored: PictureSize, _ orientation: Orientation, _ row: Int, _ count: Int,
    _ type: Pixel.Type
  ) {
    for column in 0..<width {
      for index in 0..<count {
        let source = orientation.stored(column, row + index, width: stored.width, height: stored.height)
        let pixel = picture.pixel(source.column, source.row, bytes: MemoryLayout<Pixel>.size).load(as: type)
        rows[index].bytes.storeBytes(of: pixel, toByteOffset: column * MemoryLayout<Pixel>.size, as: type)
      }
    }
  }
}
