/// Multiplies alpha. Rows without alpha are left alone.
struct AlphaScale: RowFilter {
  private let factor: Float

  /// A factor of 0…1.
  init(factor: Double) { self.factor = Float(factor) }

  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    for index in 0..<row.vectors { row.alpha[index] *= factor }
  }
}
