/// The rows of a source, to whose colours is added what they differ by from blurred ones.
final class SharpenedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let remembered: RememberedRows
  private let blurred: any RowSource
  private let buffer: RowBuffer
  private var nextRow = 0

  /// Rows of a source, blurred by a kernel that reaches `radius` rows up and down.
  init(_ source: any RowSource, kernel: ResamplingKernel, radius: Int) {
    (size, layout) = (source.size, source.layout)
    remembered = RememberedRows(source, count: radius + 1 + WeightedColumns.rowsAhead)
    let columns = ResamplingWeights(ResamplingAxis(length: size.width, count: size.width), kernel)
    let rows = ResamplingWeights(ResamplingAxis(length: size.height, count: size.height), kernel)
    let premultiplied = FilteredRows(remembered, Premultiply())
    blurred = FilteredRows(GatheredRows(WeightedColumns(premultiplied, columns), rows), Unpremultiply())
    buffer = RowBuffer(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    try blurred.read(into: buffer.row)
    remembered.copy(nextRow, into: row)
    for index in 0..<(row.vectors * (layout.isGrey ? 1 : 3)) {
      row.red[index] = (row.red[index] + (row.red[index] - buffer.row.red[index])).clampedToUnit
    }
    nextRow += 1
  }
}
