/// Rows of another width: each new pixel is a weighted sum of old ones of its row. Eight rows are computed at once, one in
/// each lane of a vector: so a sum needs no lanes to be added up, and no more samples than it has weights.
final class WeightedColumns: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let old: RowOctet
  private let new: RowOctet
  private var nextRow = 0

  /// Old and new rows that are held, each also as columns.
  static let heldRows = 4 * RowOctet.rows
  /// How many more rows of the source may have been read than of this.
  static let rowsAhead = RowOctet.rows - 1

  /// Rows of a source, resampled.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: weights.count, height: source.size.height)
    layout = source.layout
    old = RowOctet(width: source.size.width, layout: layout)
    new = RowOctet(width: size.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    if nextRow % RowOctet.rows == 0 { try readOctet() }
    row.copy(new.row(nextRow % RowOctet.rows))
    nextRow += 1
  }

  private func readOctet() throws(ImagingError) {
    for index in 0..<min(RowOctet.rows, size.height - nextRow) { try source.read(into: old.row(index)) }
    old.gatherColumns()
    if layout.isGrey { resample(plane: 0) } else { resampleColours() }
    if layout.hasAlpha { resample(plane: layout.channels - 1) }
    new.spreadColumns()
  }

  private func resample(plane: Int) {
    let (samples, results) = (old.columns(plane), new.columns(plane))
    for index in 0..<size.width {
      let range = weights.ranges[index]
      let (factors, samples) = (weights.weights(for: index), samples + range.lowerBound)
      var sum = SIMD8<Float>()
      for place in 0..<range.count { sum += samples[place] * factors[place] }
      results[index] = sum
    }
  }

  /// The three colours at once: the weights are the same.
  private func resampleColours() {
    let distance = old.columns(1) - old.columns(0)
    let (reds, greens, blues) = (new.columns(0), new.columns(1), new.columns(2))
    for index in 0..<size.width {
      let range = weights.ranges[index]
      let (factors, samples) = (weights.weights(for: index), old.columns(0) + range.lowerBound)
      var (red, green, blue) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
      for place in 0..<range.count {
        let factor = SIMD8(repeating: factors[place])
        red += samples[place] * factor
        green += samples[place &+ distance] * factor
        blue += samples[place &+ 2 &* distance] * factor
      }
      (reds[index], greens[index], blues[index]) = (red, green, blue)
    }
  }
}
