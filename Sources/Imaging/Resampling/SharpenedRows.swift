/// The rows of a source, sharpened by an unsharp mask: the difference to the blurred colours is added.
final class SharpenedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let original: BufferedRows
  private let blurred: any RowSource
  private let buffer: RowBuffer
  private var nextRow = 0

  /// Creates a source with the mask of a kernel that extends `radius` rows up and down.
  init(_ source: any RowSource, kernel: ResamplingKernel, radius: Int) {
    (size, layout) = (source.size, source.layout)
    original = BufferedRows(source, count: radius + 1 + ResampledColumns.rowsAhead)
    let columns = ResamplingWeights(ResamplingAxis(length: size.width, count: size.width), kernel)
    let rows = ResamplingWeights(ResamplingAxis(length: size.height, count: size.height), kernel)
    let premultiplied = FilteredRows(original, Premultiply())
    blurred = FilteredRows(GatheredRows(ResampledColumns(premultiplied, columns), rows), Unpremultiply())
    buffer = RowBuffer(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    try blurred.read(into: buffer.row)
    original.copy(nextRow, into: row)
    for index in 0..<(row.vectors * (layout.isGrey ? 1 : 3)) {
      row.red[index] = (row.red[index] + (row.red[index] - buffer.row.red[index])).clampedToUnit
    }
    nextRow += 1
  }
}

/// The rows of a source, the last of which can be read again.
private final class BufferedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let rows: [RowBuffer]
  private var nextRow = 0

  /// Creates a source that keeps the last `count` rows.
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
  func copy(_ index: Int, into row: PixelRow) { row.copy(rows[index % rows.count].row) }
}
