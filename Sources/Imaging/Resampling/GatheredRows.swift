/// Rows of another height, as weighted sums of old rows, which are kept as long as they are needed. For as many rows or
/// more: a new row needs few old ones.
final class GatheredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let kept: [RowBuffer]
  private var nextRow = 0
  private var nextOld = 0

  /// Rows of a source, resampled.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: source.size.width, height: weights.count)
    layout = source.layout
    kept = (0..<(weights.ranges.map(\.count).max() ?? 0)).map { _ in
      RowBuffer(width: source.size.width, layout: source.layout)
    }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    let range = weights.ranges[nextRow]
    while nextOld < range.upperBound {
      try source.read(into: kept[nextOld % kept.count].row)
      nextOld += 1
    }
    row.clear()
    for old in range { row.add(kept[old % kept.count].row, times: weights.weight(of: old, for: nextRow)) }
    nextRow += 1
  }
}
