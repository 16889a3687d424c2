/// The stage that resamples by a given plan.
struct Resampling: RowStage {
  let plan: ResamplingPlan

  let window = RowWindow.rows(heldRows)
  var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { { [plan] _ in plan } }

  /// Rows for a kernel of six, one because of rounding and the next input row; and those that resampling columns holds.
  static let heldRows = ScatteredRows.maxSums + 1 + ResampledColumns.heldRows

  func size(after size: PictureSize) -> PictureSize { plan.size }
  func rows(from source: any RowSource) -> any RowSource { plan.rows(from: source) }
}

extension ResamplingPlan {
  /// The resampled rows of a source that has the plan's input size; the source itself when nothing changes.
  func rows(from source: any RowSource) -> any RowSource {
    guard !columns.isIdentity || !rows.isIdentity else { return source }
    let columnWeights = columns.isIdentity ? nil : ResamplingWeights.resizing(columns)
    let rowWeights = rows.isIdentity ? nil : ResamplingWeights.resizing(rows)
    var result: any RowSource = FilteredRows(source, Premultiply())
    // The side that is reduced comes first, so that the intermediate picture is never larger than both pictures.
    if columns.scale >= 1 || rows.scale <= 1 {
      result = resampledHeight(of: resampledWidth(of: result, columnWeights), rowWeights)
    } else {
      result = resampledWidth(of: resampledHeight(of: result, rowWeights), columnWeights)
    }
    return FilteredRows(result, Unpremultiply())
  }

  private func resampledWidth(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    weights.map { ResampledColumns(source, $0) } ?? source
  }

  private func resampledHeight(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    guard let weights else { return source }
    return rows.scale > 1 ? ScatteredRows(source, weights) : GatheredRows(source, weights)
  }
}

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

/// Resamples to as many rows or more: each output row is a weighted sum of a few input rows, which are kept while they are
/// needed.
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
    kept = (0..<weights.maxCount).map { _ in
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
