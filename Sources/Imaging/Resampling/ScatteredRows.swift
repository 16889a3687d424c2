/// Rows of another height, as weighted sums of old rows, each of which is added to all those that need it when it comes.
/// For fewer rows: an old row is needed by few new ones, but a new row needs many.
final class ScatteredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let buffer: RowBuffer
  private let sums: [RowBuffer]
  private var nextRow = 0
  private var nextOld = 0

  /// New rows that an old one is part of at most: twice the kernel's support, and one because of rounding.
  static let maxSums = 8

  /// Rows of a source, resampled to fewer with a kernel whose support is not above 3.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: source.size.width, height: weights.count)
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
    sums = (0..<Self.maxSums).map { _ in RowBuffer(width: source.size.width, layout: source.layout) }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    while nextOld < weights.ranges[nextRow].upperBound {
      try source.read(into: buffer.row)
      // No range of those that are still to be made ends before this row.
      var new = nextRow
      while new < weights.count, weights.ranges[new].lowerBound <= nextOld {
        sums[new % sums.count].row.add(buffer.row, times: weights.weight(of: nextOld, for: new))
        new += 1
      }
      nextOld += 1
    }
    let sum = sums[nextRow % sums.count].row
    row.copy(sum)
    sum.clear()
    nextRow += 1
  }
}
