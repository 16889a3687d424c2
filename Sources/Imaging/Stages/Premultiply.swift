/// Multiplies colours by alpha, as required where pixels are averaged: transparent pixels contribute no colour. Rows
/// without alpha do not change.
struct Premultiply: RowFilter {
  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    for channel in 0..<(row.planeCount - 1) {
      let plane = row.plane(channel)
      for index in 0..<row.vectors { plane[index] *= row.alpha[index] }
    }
  }
}

/// Divides colours by alpha and clamps all samples to 0…1, which kernels with negative weights exceed. Colours are divided
/// by alpha before it is clamped, so that a uniform colour stays uniform where alpha overshoots. Transparent pixels become
/// black.
struct Unpremultiply: RowFilter {
  /// The least alpha that is not rounded to 0 at 16 bits.
  private static let leastAlpha: Float = 0.5 / 65535

  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else {
      for index in 0..<(row.planeCount * row.vectors) { row.red[index] = row.red[index].clampedToUnit }
      return
    }
    for index in 0..<row.vectors {
      let alpha = row.alpha[index]
      row.alpha[index] = alpha.clampedToUnit
      let isTransparent = alpha .< Self.leastAlpha
      row.red[index] = (row.red[index] / alpha).clampedToUnit.replacing(with: 0, where: isTransparent)
      guard !row.layout.isGrey else { continue }
      row.green[index] = (row.green[index] / alpha).clampedToUnit.replacing(with: 0, where: isTransparent)
      row.blue[index] = (row.blue[index] / alpha).clampedToUnit.replacing(with: 0, where: isTransparent)
    }
  }
}
