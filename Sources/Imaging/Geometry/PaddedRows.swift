/// The rows of a source in a larger picture of one colour.
final class PaddedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let buffer: RowBuffer
  private let origin: (column: Int, row: Int)
  private let colour: CSSColour
  private var nextRow = 0

  /// - Parameter origin: The place of the source, which lies within the picture.
  init(_ source: any RowSource, size: PictureSize, origin: (column: Int, row: Int), colour: CSSColour) {
    (self.source, self.size, self.origin, self.colour) = (source, size, origin, colour)
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
  }

  /// The bytes of the row that is held of a source of this size.
  static func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    RowBuffer.bytes(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    fill(row)
    defer { nextRow += 1 }
    guard nextRow >= origin.row, nextRow < origin.row + source.size.height else { return }
    try source.read(into: buffer.row)
    for plane in 0..<row.planeCount {
      (row.samples(plane) + origin.column).update(from: buffer.row.samples(plane), count: source.size.width)
    }
  }

  private func fill(_ row: PixelRow) {
    row.red.update(repeating: SIMD8(repeating: colour.red), count: row.vectors)
    if !layout.isGrey {
      row.green.update(repeating: SIMD8(repeating: colour.green), count: row.vectors)
      row.blue.update(repeating: SIMD8(repeating: colour.blue), count: row.vectors)
    }
    if layout.hasAlpha { row.alpha.update(repeating: SIMD8(repeating: colour.alpha), count: row.vectors) }
  }
}
