/// The short cut of a `PlaneKernel` for pixels that do not clip, neither where they enter nor where they leave a single
/// stage: then an affine map of red, green and blue is one of Y, Cb and Cr, and the chroma of a result in 4:2:0 is that of
/// the mean of its four pixels. From 4:2:0 and from 4:4:4.
struct PlaneShortcut {
  /// Four numbers for new luma, for new Cb and for new Cr.
  private let table: UnsafeMutablePointer<PlaneVector>
  private let limits: PlaneLimits

  /// Samples are computed times this.
  static let scale = 16.0

  /// The short cut of a stage; nil when one of its numbers is too large for 16 bits.
  init?(_ stage: AffineColour, _ constants: PlaneConstants) {
    let ycc = stage.inYCbCr.ycc
    let maps = [
      Self.numbers(ycc[0], plus: 0.5), Self.numbers(ycc[1], of: 4, plus: 128.5),
      Self.numbers(ycc[2], of: 4, plus: 128.5),
    ]
    guard let numbers = Self.whole(maps), let limits = PlaneLimits(stage, constants) else { return nil }
    table = constants.table(numbers)
    self.limits = limits
  }

  /// The numbers of a map from Y, Cb − 128, Cr − 128 and 1, for the sum of `count` luma samples: factors of luma, taken as
  /// difference to 128 times 64, and of Cb and Cr, taken as differences to 128 times 256; and what is added. The result is
  /// in samples times `scale`.
  static func numbers(_ map: SIMD4<Double>, of count: Double = 1, plus offset: Double = 0) -> [Double] {
    // Two or three products are rounded down.
    let constant = (map.w + offset + 128 * map.x) * scale + 1
    return [map.x * 1024 * scale / count, map.y * 256 * scale, map.z * 256 * scale, constant]
  }

  /// The same in 16 bits; nil when one does not fit.
  static func whole(_ maps: [[Double]]) -> [Int16]? {
    let numbers = maps.joined().compactMap { Int16(exactly: $0.rounded()) }
    return numbers.count == maps.joined().count ? numbers : nil
  }

  /// By how much neighbouring samples of chroma may differ, of 255, to be taken as they are instead of interpolated.
  private static var smoothness: SIMD8<UInt8> { SIMD8(repeating: 12) }

  /// Computes columns, 16 at an index, 64 indices at most.
  ///
  /// Everything is computed before the question is asked whether it may be: with a branch in between, the compiler would
  /// carry widened samples over it.
  /// - Parameters:
  ///   - shared: Whether chroma is that of 4:2:0, not of 4:4:4.
  ///   - nextRow: How far away the next row of chroma is.
  /// - Returns: A bit for each index, the first the lowest: whether the results there mean nothing, because a pixel clips or
  ///   chroma must be interpolated.
  func apply(
    to rows: PlaneRowPair, _ columns: Range<Int>, shared: Bool, nextRow: Int, into newRows: PlaneRowPair
  ) -> UInt64 {
    var left: UInt64 = 0
    for index in columns {
      let isDone = shared ? self.shared(rows, index, nextRow: nextRow, newRows) : full(rows, index, newRows)
      left |= (isDone ? 0 : 1) << UInt64(index - columns.lowerBound)
    }
    return left
  }

  /// 16 columns whose chroma is shared, and stays it.
  @inline(__always)
  private func shared(_ rows: PlaneRowPair, _ index: Int, nextRow: Int, _ newRows: PlaneRowPair) -> Bool {
    let uneven = unevenness(rows.blue.upper, index, nextRow) | unevenness(rows.red.upper, index, nextRow)
    let blue = (PlaneVector.load(rows.blue.upper, index) &- 128) &<< 8
    let red = (PlaneVector.load(rows.red.upper, index) &- 128) &<< 8
    let fromChroma = toLuma(blue, red)
    let terms = PlaneVectorPair(even: fromChroma, odd: fromChroma)
    let (upper, lower) = (centred(rows.luma.upper, index), centred(rows.luma.lower, index))
    store(upper, terms, lower, terms, blue, red, newRows, index)
    let isVisible = limits.allow(luma: PlaneExtremes(upper, lower), blue: PlaneExtremes(blue), red: PlaneExtremes(red))
    // The same 64 bits as one integer, to be tested at once.
    return isVisible && unsafeBitCast(uneven, to: UInt64.self) == 0
  }

  /// 16 columns whose pixels have chroma of their own, which is shared from now on.
  @inline(__always)
  private func full(_ rows: PlaneRowPair, _ index: Int, _ newRows: PlaneRowPair) -> Bool {
    let (upperBlue, lowerBlue) = (chroma(rows.blue.upper, index), chroma(rows.blue.lower, index))
    let (upperRed, lowerRed) = (chroma(rows.red.upper, index), chroma(rows.red.lower, index))
    let (upper, lower) = (centred(rows.luma.upper, index), centred(rows.luma.lower, index))
    store(
      upper, toLuma(upperBlue, upperRed), lower, toLuma(lowerBlue, lowerRed),
      mean(upperBlue, lowerBlue), mean(upperRed, lowerRed), newRows, index)
    return limits.allow(
      luma: PlaneExtremes(upper, lower), blue: PlaneExtremes(upperBlue, lowerBlue),
      red: PlaneExtremes(upperRed, lowerRed))
  }

  /// Stores new luma, of the old and what chroma adds, and new chroma, of the mean luma and the mean chroma.
  @inline(__always)
  private func store(
    _ upper: PlaneVectorPair, _ upperTerms: PlaneVectorPair, _ lower: PlaneVectorPair, _ lowerTerms: PlaneVectorPair,
    _ blue: PlaneVector, _ red: PlaneVector, _ newRows: PlaneRowPair, _ index: Int
  ) {
    map(upper, upperTerms).store(newRows.luma.upper, index)
    map(lower, lowerTerms).store(newRows.luma.lower, index)
    let sum = upper.even &+ upper.odd &+ lower.even &+ lower.odd
    map(sum, blue, red, table + 4).store(newRows.blue.upper, index)
    map(sum, blue, red, table + 8).store(newRows.red.upper, index)
  }

  /// By how much samples of chroma differ from their neighbours; 0 where it is little.
  @inline(__always)
  private func unevenness(_ row: PlaneSamples, _ index: Int, _ nextRow: Int) -> SIMD8<UInt8> {
    let own = Self.samples(row, index)
    let (left, right) = (Self.samples(row - 1, index), Self.samples(row + 1, index))
    let (below, above) = (Self.samples(row + nextRow, index), Self.samples(row - nextRow, index))
    let lowest = left.lesser(right).lesser(own).lesser(above.lesser(below))
    let highest = left.greater(right).greater(own).greater(above.greater(below))
    return (highest &- own).greater(own &- lowest).greater(Self.smoothness) &- Self.smoothness
  }

  @inline(__always)
  private static func samples(_ row: PlaneSamples, _ index: Int) -> SIMD8<UInt8> {
    UnsafeRawPointer(row + index &* 8).loadUnaligned(as: SIMD8<UInt8>.self)
  }

  /// 16 samples of luma, less 128, times 64. Of numbers that are never negative the compiler would make another
  /// multiplication, which takes longer.
  @inline(__always)
  private func centred(_ row: PlaneSamples, _ index: Int) -> PlaneVectorPair {
    let samples = PlaneVectorPair.load(row, index)
    return PlaneVectorPair(even: samples.even &<< 6 &- 8192, odd: samples.odd &<< 6 &- 8192)
  }

  /// 16 samples of chroma, less 128, times 256.
  @inline(__always)
  private func chroma(_ row: PlaneSamples, _ index: Int) -> PlaneVectorPair {
    let samples = PlaneVectorPair.load(row, index)
    return PlaneVectorPair(even: (samples.even &- 128) &<< 8, odd: (samples.odd &- 128) &<< 8)
  }

  /// Of two rows of chroma the mean of what one sample stands for from now on.
  @inline(__always)
  private func mean(_ upper: PlaneVectorPair, _ lower: PlaneVectorPair) -> PlaneVector {
    (upper.even &>> 2) &+ (upper.odd &>> 2) &+ (lower.even &>> 2) &+ (lower.odd &>> 2)
  }

  /// What chroma adds to new luma.
  @inline(__always)
  private func toLuma(_ blue: PlaneVector, _ red: PlaneVector) -> PlaneVector {
    return blue.upperHalf(table + 1) &+ red.upperHalf(table + 2) &+ (table + 3).pointee
  }

  @inline(__always)
  private func toLuma(_ blue: PlaneVectorPair, _ red: PlaneVectorPair) -> PlaneVectorPair {
    PlaneVectorPair(even: toLuma(blue.even, red.even), odd: toLuma(blue.odd, red.odd))
  }

  /// New luma.
  @inline(__always)
  private func map(_ luma: PlaneVectorPair, _ fromChroma: PlaneVectorPair) -> PlaneVectorPair {
    return PlaneVectorPair(
      even: (luma.even.upperHalf(table) &+ fromChroma.even) &>> 4,
      odd: (luma.odd.upperHalf(table) &+ fromChroma.odd) &>> 4)
  }

  /// New chroma, of the sum of four luma samples and the old chroma.
  @inline(__always)
  private func map(
    _ sum: PlaneVector, _ blue: PlaneVector, _ red: PlaneVector, _ place: UnsafeMutablePointer<PlaneVector>
  ) -> PlaneVector {
    let chroma = blue.upperHalf(place + 1) &+ red.upperHalf(place + 2) &+ (place + 3).pointee
    // Chroma of visible colours is not less than 1; half of 255 above 128 would round to 256.
    return ((sum.upperHalf(place) &+ chroma) &>> 4).lesser(PlaneVector(repeating: 255))
  }
}
