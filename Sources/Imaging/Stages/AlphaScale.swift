/// Multiplies alpha by a factor. Rows without alpha do not change.
struct AlphaScale: RowFilter {
  private let factor: Float

  /// Creates a stage with a factor of 0…1.
  init(factor: Double) { self.factor = Float(factor) }

  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    for index in 0..<row.vectors { row.alpha[index] *= factor }
  }
}
