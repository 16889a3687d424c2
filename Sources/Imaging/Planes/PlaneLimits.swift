/// The numbers that tell whether pixels clip in an affine stage, by the extremes of their Y, Cb and Cr.
///
/// A colour's bound is an affine map of these that must not be negative; it is least at one extreme of each. Bounds that no
/// visible colour reaches are left out: of `sepia(0.8)` two remain, as only red and green may become too great.
struct PlaneLimits {
  /// Four of each bound: see `PlaneShortcut`.
  let numbers: [Int16]
  /// How many bounds.
  let count: Int
  /// Three bits for each bound, the first bound's lowest: whether it is least where luma, Cb and Cr are highest.
  let extremes: UInt32

  /// The limits of a stage; nil when one of its numbers is too large for 16 bits.
  init?(_ stage: AffineColour) {
    let maps = stage.inYCbCr.rgb
    // No sum may overflow on the way either, nor its difference to 255.
    let isSmall = maps.allSatisfy {
      255 * $0.x.magnitude + 128 * ($0.y.magnitude + $0.z.magnitude) + $0.w.magnitude < 1750
    }
    let bounds = zip(stage.rows, maps).flatMap { row, map in
      let range = AffineColour.range(of: row)
      return (range.lowerBound < AffineColour.unit.lowerBound ? [map] : [])
        + (range.upperBound > AffineColour.unit.upperBound ? [SIMD4(0, 0, 0, 255) - map] : [])
    }
    guard isSmall, let numbers = PlaneShortcut.whole(bounds.map { PlaneShortcut.numbers($0) }) else { return nil }
    self.numbers = numbers
    count = bounds.count
    extremes = bounds.reversed().reduce(0) { extremes, bound in
      extremes << 3 | (bound.x < 0 ? 1 : 0) | (bound.y < 0 ? 2 : 0) | (bound.z < 0 ? 4 : 0)
    }
  }
}
