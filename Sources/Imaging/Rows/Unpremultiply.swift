/// Divides colours by alpha, and limits all samples to 0…1; kernels with negative weights lead beyond. Colours are divided
/// by alpha as it came, so that one colour stays one where alpha overshoots. What is transparent becomes black.
struct Unpremultiply: RowFilter {
  /// What is less alpha shows in no file: less than half of what 16 bits can tell from 0.
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
