/// Tells whether pixels clip before an affine stage or after it, by the extremes of their Y, Cb and Cr.
///
/// A colour's bound is an affine map of these that must not be negative; it is least at one extreme of each. Bounds that no
/// visible colour reaches are left out: of `sepia(0.8)` two remain, as only red and green may become too great.
struct PlaneLimits {
  /// The first factors of `PlaneKernel`, then four numbers of each bound: see `PlaneShortcut`.
  private let table: UnsafeMutablePointer<PlaneVector>
  /// Room for the lowest and highest luma, Cb and Cr, to be chosen from.
  private let extremes: UnsafeMutablePointer<PlaneVector>
  private let boundCount: Int
  /// Three bits for each bound, the first bound's lowest: whether it is least where luma, Cb and Cr are highest.
  private let choices: Int

  /// The limits of a stage; nil when one of its numbers is too large for 16 bits.
  init?(_ stage: AffineColour, _ constants: PlaneConstants) {
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
    table = constants.table(PlaneKernel.decoding + numbers)
    extremes = constants.table(Array(repeating: 0, count: 6))
    boundCount = bounds.count
    choices = bounds.reversed().reduce(0) { choices, bound in
      choices << 3 | (bound.x < 0 ? 1 : 0) | (bound.y < 0 ? 2 : 0) | (bound.z < 0 ? 4 : 0)
    }
  }

  /// Whether pixels with such extremes do not clip.
  ///
  /// Luma is taken as difference to 128 times 64, chroma as difference to 128 times 256.
  @inline(__always)
  func allow(luma: PlaneExtremes, blue: PlaneExtremes, red: PlaneExtremes) -> Bool {
    let (low, high) = (luma.lowest &+ 8192, 255 << 6 &- 8192 &- luma.highest)
    // What leaves 0…255 has its sign bit set.
    var outside =
      (low &+ red.lowest.upperHalf(table)) | (high &- red.highest.upperHalf(table))
      | (low &- blue.highest.upperHalf(table + 1) &- red.highest.upperHalf(table + 2))
      | (high &+ blue.lowest.upperHalf(table + 1) &+ red.lowest.upperHalf(table + 2))
      | (low &+ blue.lowest.upperHalf(table + 3)) | (high &- blue.highest.upperHalf(table + 3))
    (extremes[0], extremes[1]) = (luma.lowest, luma.highest)
    (extremes[2], extremes[3]) = (blue.lowest, blue.highest)
    (extremes[4], extremes[5]) = (red.lowest, red.highest)
    var (bits, bound) = (choices, table + PlaneKernel.decoding.count)
    for _ in 0..<boundCount {
      outside |=
        extremes[bits & 1].upperHalf(bound) &+ extremes[2 + (bits >> 1 & 1)].upperHalf(bound + 1)
        &+ extremes[4 + (bits >> 2 & 1)].upperHalf(bound + 2) &+ (bound + 3).pointee
      bits >>= 3
      bound += 4
    }
    // The same 128 bits as two integers, to be tested at once.
    let signs = unsafeBitCast(outside & PlaneVector(repeating: .min), to: SIMD2<UInt64>.self)
    return signs.x | signs.y == 0
  }
}
