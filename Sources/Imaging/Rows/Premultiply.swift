/// Multiplies colours by alpha, as they must be where pixels are mixed: what is transparent has no colour then. Rows
/// without alpha are left alone.
struct Premultiply: RowFilter {
  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    for channel in 0..<(row.planeCount - 1) {
      let plane = row.plane(channel)
      for index in 0..<row.vectors { plane[index] *= row.alpha[index] }
    }
  }
}
