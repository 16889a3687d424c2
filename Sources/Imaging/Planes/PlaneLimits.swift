/// The bounds that determine, from the extremes of Y, Cb and Cr, whether pixels clip in an affine stage.
///
/// A bound is an affine map of Y, Cb and Cr that must not be negative; its minimum is at one extreme of each. Bounds that no
/// RGB colour exceeds are left out: for `sepia(0.8)` two remain, as only red and green may become too large.
struct PlaneLimits {
  /// Four coefficients of each bound: see `PlaneFastPath`.
  let numbers: [Int16]
  let count: Int
  /// Three bits for each bound, the first bound's lowest: whether its minimum is at the maximum of luma, Cb and Cr.
  let extremes: UInt32

  /// Computes the bounds of a stage; nil when a coefficient does not fit into 16 bits.
  init?(_ stage: AffineColour) {
    let maps = stage.inYCbCr.rgb
    // Neither partial sums nor their difference to 255 may overflow.
    let isSmall = maps.allSatisfy {
      255 * $0.x.magnitude + 128 * ($0.y.magnitude + $0.z.magnitude) + $0.w.magnitude < 1750
    }
    let bounds = zip(stage.rows, maps).flatMap { row, map in
      let range = AffineColour.range(of: row)
      return (range.lowerBound < AffineColour.unit.lowerBound ? [map] : [])
        + (range.upperBound > AffineColour.unit.upperBound ? [SIMD4(0, 0, 0, 255) - map] : [])
    }
    guard isSmall, let numbers = PlaneFastPath.integers(bounds.map { PlaneFastPath.coefficients($0) }) else {
      return nil
    }
    self.numbers = numbers
    count = bounds.count
    extremes = bounds.reversed().reduce(0) { extremes, bound in
      extremes << 3 | (bound.x < 0 ? 1 : 0) | (bound.y < 0 ? 2 : 0) | (bound.z < 0 ? 4 : 0)
    }
  }
}
