/// Multiplies red, green and blue by a 3 × 3 matrix. Grey rows do not change: filters whose matrix colours grey get colour
/// rows (`coloursGrey`); the rows of other matrices sum to 1.
struct ColourMatrix: RowFilter {
  private let red, green, blue: SIMD3<Float>

  var affine: AffineColour? {
    AffineColour(
      red: SIMD4(SIMD3<Double>(red), 0), green: SIMD4(SIMD3<Double>(green), 0), blue: SIMD4(SIMD3<Double>(blue), 0))
  }

  /// Creates a stage from the matrix rows that compute red, green and blue.
  init(red: SIMD3<Double>, green: SIMD3<Double>, blue: SIMD3<Double>) {
    self.red = SIMD3<Float>(red)
    self.green = SIMD3<Float>(green)
    self.blue = SIMD3<Float>(blue)
  }

  func apply(to row: PixelRow) {
    guard !row.layout.isGrey else { return }
    let (rr, rg, rb) = (red.x, red.y, red.z)
    let (gr, gg, gb) = (green.x, green.y, green.z)
    let (br, bg, bb) = (blue.x, blue.y, blue.z)
    for index in 0..<row.vectors {
      let (r, g, b) = (row.red[index], row.green[index], row.blue[index])
      row.red[index] = (rr * r + rg * g + rb * b).clampedToUnit
      row.green[index] = (gr * r + gg * g + gb * b).clampedToUnit
      row.blue[index] = (br * r + bg * g + bb * b).clampedToUnit
    }
  }
}
