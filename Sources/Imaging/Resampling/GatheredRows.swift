/// Resamples to as many rows or more: each output row is a weighted sum of a few input rows, which are kept as long as they
/// are needed.
final class GatheredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let kept: [RowBuffer]
  private var nextRow = 0
  private var nextInput = 0

  /// Creates a source that resamples the height of another.
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
    while nextInput < range.upperBound {
      try source.read(into: kept[nextInput % kept.count].row)
      nextInput += 1
    }
    row.clear()
    for input in range { row.add(kept[input % kept.count].row, times: weights.weight(of: input, for: nextRow)) }
    nextRow += 1
  }
}
