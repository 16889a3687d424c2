/// Applies a linear transfer function to red, green and blue: sample · slope + intercept (Filter Effects Module Level 1
/// § 9.7.1). Alpha does not change.
struct LinearTransfer: RowFilter {
  private let slope, intercept: Float

  var affine: AffineColour? {
    let (slope, intercept) = (Double(slope), Double(intercept))
    return AffineColour(
      red: [slope, 0, 0, intercept], green: [0, slope, 0, intercept], blue: [0, 0, slope, intercept])
  }

  init(slope: Double, intercept: Double) {
    self.slope = Float(slope)
    self.intercept = Float(intercept)
  }

  func apply(to row: PixelRow) {
    apply(to: row.red, count: row.vectors)
    guard !row.layout.isGrey else { return }
    apply(to: row.green, count: row.vectors)
    apply(to: row.blue, count: row.vectors)
  }

  @inline(__always)
  private func apply(to plane: UnsafeMutablePointer<SIMD8<Float>>, count: Int) {
    for index in 0..<count {
      plane[index] = (plane[index] * slope + intercept).clampedToUnit
    }
  }
}
