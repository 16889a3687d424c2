/// Composites a row over white, for formats without alpha: colour · alpha + 1 − alpha (source over, Compositing and
/// Blending Level 1 § 9.1.4), in sRGB values as browsers do. Alpha becomes 1.
struct Flatten: RowFilter {
  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    let one = SIMD8<Float>(repeating: 1)
    for index in 0..<row.vectors {
      let alpha = row.alpha[index]
      let white = one - alpha
      row.red[index] = (row.red[index] * alpha + white).clampedToUnit
      if !row.layout.isGrey {
        row.green[index] = (row.green[index] * alpha + white).clampedToUnit
        row.blue[index] = (row.blue[index] * alpha + white).clampedToUnit
      }
      row.alpha[index] = one
    }
  }
}
