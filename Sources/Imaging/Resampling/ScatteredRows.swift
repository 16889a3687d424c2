/// Resamples to fewer rows: each input row is added to the few output rows that it contributes to as soon as it is read, so
/// memory does not depend on the number of input rows that an output row needs.
final class ScatteredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let buffer: RowBuffer
  private let sums: [RowBuffer]
  private var nextRow = 0
  private var nextInput = 0

  /// The largest number of output rows that an input row contributes to: twice the kernel's support and two because of
  /// rounding.
  static let maxSums = 8

  /// Creates a source that reduces the height of another with a kernel whose support is at most 3.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: source.size.width, height: weights.count)
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
    sums = (0..<Self.maxSums).map { _ in RowBuffer(width: source.size.width, layout: source.layout) }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    while nextInput < weights.ranges[nextRow].upperBound {
      try source.read(into: buffer.row)
      // The ranges of all remaining output rows end after this row.
      var output = nextRow
      while output < weights.count, weights.ranges[output].lowerBound <= nextInput {
        sums[output % sums.count].row.add(buffer.row, times: weights.weight(of: nextInput, for: output))
        output += 1
      }
      nextInput += 1
    }
    let sum = sums[nextRow % sums.count].row
    row.copy(sum)
    sum.clear()
    nextRow += 1
  }
}
