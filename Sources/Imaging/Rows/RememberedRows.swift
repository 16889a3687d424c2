/// The rows of a source, the last of which can be had again.
final class RememberedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let rows: [RowBuffer]
  private var nextRow = 0

  /// Rows of a source; the last `count` are remembered.
  init(_ source: any RowSource, count: Int) {
    self.source = source
    (size, layout) = (source.size, source.layout)
    rows = (0..<count).map { _ in RowBuffer(width: source.size.width, layout: source.layout) }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    try source.read(into: rows[nextRow % rows.count].row)
    nextRow += 1
    copy(nextRow - 1, into: row)
  }

  /// Copies one of the last rows that were read.
  func copy(_ index: Int, into row: PixelRow) {
    row.copy(rows[index % rows.count].row)
  }
}
