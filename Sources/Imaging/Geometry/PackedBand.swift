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

  /// Neighbours are stored at the same distance everywhere: it is found out once.
  private func fill<Pixel: BitwiseCopyable>(
    from picture: PackedPicture, _ stored: PictureSize, _ orientation: Orientation, _ row: Int, _ count: Int,
    _ type: Pixel.Type
  ) {
    let bytes = MemoryLayout<Pixel>.size
    func source(_ column: Int, _ row: Int) -> UnsafeMutableRawPointer {
      let pixel = orientation.stored(column, row, width: stored.width, height: stored.height)
      return picture.pixel(pixel.column, pixel.row, bytes: bytes)
    }
    let first = source(0, row)
    let (right, below) = (source(1, row) - first, source(0, row + 1) - first)
    func copy(_ column: Int, _ target: UnsafeMutableRawPointer, _ index: Int) {
      let pixel = (first + column * right + index * below).load(as: type)
      target.storeBytes(of: pixel, toByteOffset: column * bytes, as: type)
    }
    guard orientation.transposes else {
      for (index, row) in rows.prefix(count).enumerated() {
        for column in 0..<width { copy(column, row.bytes, index) }
      }
      return
    }
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer.self, capacity: count) { targets in
      _ = targets.initialize(from: rows.prefix(count).lazy.map(\.bytes))
      for column in 0..<width {
        for index in 0..<count { copy(column, targets[index], index) }
      }
    }
  }
}
