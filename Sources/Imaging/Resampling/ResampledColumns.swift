import CPlanes

/// Resamples to another width: each output pixel is a weighted sum of input pixels of its row. Eight rows are computed at
/// once, one in each lane of a vector, so that sums need no horizontal addition and no padding of their weights.
final class ResampledColumns: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let input: RowGroup
  private let output: RowGroup
  private var nextRow = 0

  /// Input and output rows that are held, each also as columns.
  static let heldRows = 4 * RowGroup.rows
  /// The number of rows by which the source is read ahead.
  static let rowsAhead = RowGroup.rows - 1

  /// Creates a source that resamples the width of another.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: weights.count, height: source.size.height)
    layout = source.layout
    input = RowGroup(width: source.size.width, layout: layout)
    output = RowGroup(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    if nextRow % RowGroup.rows == 0 { try readGroup() }
    row.copy(output.row(nextRow % RowGroup.rows))
    nextRow += 1
  }

  private func readGroup() throws(ImagingError) {
    for index in 0..<min(RowGroup.rows, size.height - nextRow) { try source.read(into: input.row(index)) }
    input.gatherColumns()
    for plane in 0..<layout.channels {
      cplanes_resample_columns(
        .supported, weights.taps, Int32(size.width), input.columns(plane), output.columns(plane))
    }
    output.scatterColumns()
  }
}
