/// The short cut of a `PlaneKernel` for pixels that do not clip, neither where they enter nor where they leave a single stage: then an
/// affine map of red, green and blue is one of Y, Cb and Cr, and chroma need not be looked at pixel by pixel. For 4:2:0
/// that stays 4:2:0.
struct PlaneShortcut {
  private let constants: PlaneConstants

  /// Samples are computed times this.
  private static let scale = 16.0

  /// The short cut of a stage; nil when one of its numbers is too large for 16 bits.
  ///
  /// For each of red, green, blue: factors of luma, Cb and Cr, and the offset. Then the same for new luma, with a half
  /// for rounding, for new Cb and for new Cr, both 128 higher, and with a quarter of the factor of luma, for sums of
  /// four. Then the first factors of `PlaneKernel`. Luma is multiplied as difference to 128 times 64, chroma as
  /// difference to 128 times 256; results are samples · 16.
  init?(_ stage: AffineColour) {
    let (rows, ycc) = stage.inYCbCr
    let numbers =
      rows.flatMap { Self.numbers($0) }
      + Self.numbers(ycc[0], plus: 0.5) + Self.numbers(ycc[1], of: 4, plus: 128.5)
      + Self.numbers(ycc[2], of: 4, plus: 128.5)
    // No sum may overflow on the way either.
    let isSmall = rows.allSatisfy {
      255 * $0.x.magnitude + 128 * ($0.y.magnitude + $0.z.magnitude) + $0.w.magnitude < 2000
    }
    guard isSmall, numbers.allSatisfy({ $0.magnitude < 32767 }) else { return nil }
    constants = PlaneConstants(numbers.map { Int16($0.rounded()) } + PlaneKernel.decoding)
  }

  /// The numbers of a map from Y, Cb − 128, Cr − 128 and 1, for the sum of `count` luma samples.
  private static func numbers(_ map: SIMD4<Double>, of count: Double = 1, plus offset: Double = 0) -> [Double] {
    // Two or three products are rounded down.
    let constant = (map.w + offset + 128 * map.x) * scale + 1
    return [map.x * 1024 * scale / count, map.y * 256 * scale, map.z * 256 * scale, constant]
  }

  /// By how much neighbouring samples of chroma may differ, of 255, to be taken as they are instead of interpolated.
  private static let smoothness: Int16 = 12

  /// Computes 16 columns of two rows and the chroma that they share; false, with results that mean nothing, when a pixel
  /// among them clips or chroma must be interpolated. `nextRow` is how far away the next row of chroma is.
  ///
  /// Everything is computed before the question is asked: with a branch in between, the compiler would carry widened
  /// samples over it.
  @inline(__always)
  func apply(
    _ luma: (PlaneSamples, PlaneSamples), _ blue: PlaneSamples, _ red: PlaneSamples, _ index: Int,
    nextRow: Int, _ newLuma: (PlaneSamples, PlaneSamples), _ newBlue: PlaneSamples, _ newRed: PlaneSamples
  ) -> Bool {
    let table = constants.table
    let uneven = uneven(blue, index, nextRow) | uneven(red, index, nextRow)
    let blue = (PlaneVector.load(blue, index) &- 128) &<< 8
    let red = (PlaneVector.load(red, index) &- 128) &<< 8
    let (upper, lower) = (centred(luma.0, index), centred(luma.1, index))

    let toLuma = blue.upperHalf(table + 13) &+ red.upperHalf(table + 14) &+ (table + 15).pointee
    map(upper, toLuma).store(newLuma.0, index)
    map(lower, toLuma).store(newLuma.1, index)
    let sum = upper.even &+ upper.odd &+ lower.even &+ lower.odd
    map(sum, blue, red, table + 16).store(newBlue, index)
    map(sum, blue, red, table + 20).store(newRed, index)

    let (a, b) = (extremes(upper.even, upper.odd), extremes(lower.even, lower.odd))
    let (lowest, highest) = (extremes(a.lowest, b.lowest).lowest, extremes(a.highest, b.highest).highest)
    let (low, high) = (lowest &+ 8192, 255 << 6 &- 8192 &- highest)
    let redTerm = red.upperHalf(table + 24)
    let greenTerm = blue.upperHalf(table + 25) &+ red.upperHalf(table + 26)
    let blueTerm = blue.upperHalf(table + 27)
    // What leaves 0…255 has its sign bit set.
    let outside =
      (low &+ redTerm) | (high &- redTerm) | (low &- greenTerm) | (high &+ greenTerm) | (low &+ blueTerm)
      | (high &- blueTerm) | outside(lowest, highest, blue, red, table)
      | outside(lowest, highest, blue, red, table + 4) | outside(lowest, highest, blue, red, table + 8) | uneven
    // The same 128 bits as two integers, to be tested at once.
    let signs = unsafeBitCast(outside & PlaneVector(repeating: .min), to: SIMD2<UInt64>.self)
    return signs.x | signs.y == 0
  }

  /// The sign bits tell where chroma differs too much from its neighbour on the right, below, or above.
  @inline(__always)
  private func uneven(_ row: PlaneSamples, _ index: Int, _ nextRow: Int) -> PlaneVector {
    let own = PlaneVector.load(row, index)
    return differs(own, row + 1, index) | differs(own, row + nextRow, index) | differs(own, row - nextRow, index)
  }

  @inline(__always)
  private func differs(_ own: PlaneVector, _ neighbours: PlaneSamples, _ index: Int) -> PlaneVector {
    let difference = own &- PlaneVector.load(neighbours, index)
    return (difference &+ Self.smoothness) | (Self.smoothness &- difference)
  }

  /// 16 samples of luma, less 128, times 64. Of numbers that are never negative the compiler would make another
  /// multiplication, which takes longer.
  @inline(__always)
  private func centred(_ row: PlaneSamples, _ index: Int) -> PlaneVectorPair {
    let samples = PlaneVectorPair.load(row, index)
    return PlaneVectorPair(even: samples.even &<< 6 &- 8192, odd: samples.odd &<< 6 &- 8192)
  }

  /// The lesser and the greater of two vectors whose difference fits 16 bits. The library's `pointwiseMin` is compiled
  /// lane by lane here.
  @inline(__always)
  private func extremes(_ a: PlaneVector, _ b: PlaneVector) -> (lowest: PlaneVector, highest: PlaneVector) {
    let difference = b &- a
    let negative = difference & (difference &>> 15)
    return (a &+ negative, b &- negative)
  }

  /// The sign bits tell whether the colour whose numbers are at `place` is outside 0…255.
  @inline(__always)
  private func outside(
    _ lowest: PlaneVector, _ highest: PlaneVector, _ blue: PlaneVector, _ red: PlaneVector,
    _ place: UnsafeMutablePointer<PlaneVector>
  ) -> PlaneVector {
    let chroma = blue.upperHalf(place + 1) &+ red.upperHalf(place + 2) &+ (place + 3).pointee
    let (a, b) = (lowest.upperHalf(place) &+ chroma, highest.upperHalf(place) &+ chroma)
    return a | b | (255 << 4 &- a) | (255 << 4 &- b)
  }

  @inline(__always)
  private func map(_ samples: PlaneVectorPair, _ chroma: PlaneVector) -> PlaneVectorPair {
    let factor = constants.table + 12
    return PlaneVectorPair(
      even: (samples.even.upperHalf(factor) &+ chroma) &>> 4, odd: (samples.odd.upperHalf(factor) &+ chroma) &>> 4)
  }

  /// Chroma of the sum of four luma samples and the old chroma.
  @inline(__always)
  private func map(
    _ sum: PlaneVector, _ blue: PlaneVector, _ red: PlaneVector, _ place: UnsafeMutablePointer<PlaneVector>
  ) -> PlaneVector {
    let chroma = blue.upperHalf(place + 1) &+ red.upperHalf(place + 2) &+ (place + 3).pointee
    return ((sum.upperHalf(place) &+ chroma) &>> 4).limited(to: PlaneVector(repeating: 255))
  }
}
