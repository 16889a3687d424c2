/// A rectangle of the rows of a source.
final class CroppedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let buffer: RowBuffer
  private let column: Int
  private var rowsToSkip: Int

  /// Creates a source for the rectangle at `origin`, which must lie within the source.
  init(_ source: any RowSource, origin: (column: Int, row: Int), size: PictureSize) {
    self.source = source
    self.size = size
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
    (column, rowsToSkip) = origin
  }

  /// The bytes of the row that is held of a source of this size.
  static func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    RowBuffer.bytes(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    while rowsToSkip > 0 {
      try source.read(into: buffer.row)
      rowsToSkip -= 1
    }
    try source.read(into: buffer.row)
    for plane in 0..<row.planeCount {
      row.samples(plane).update(from: buffer.row.samples(plane) + column, count: size.width)
    }
  }
}
