/// Applies affine colour stages to the planes of a YCbCr picture, two rows at a time and sixteen columns at once, in
/// 16-bit integers.
///
/// Chroma that luma samples share is interpolated as decoders do, but where neighbours hardly differ (`PlaneShortcut`), where
/// a sample stands for all luma samples that share it. Each pixel becomes red, green and blue, limited to 0…255
/// as a decoder does (ITU-T T.871 § 7), passes the stages, each limited, and becomes YCbCr again; chroma is the mean over
/// the pixels that share it. So pixels that clip count as what they look like.
struct PlaneKernel {
  /// What chroma adds to luma, for each colour, in samples times 64.
  private struct Terms {
    let red, green, blue: PlaneVector
  }

  /// A pixel that passed: luma, and how much blue and red differ from it, in samples times 64.
  private struct Pixel {
    let luma, blue, red: PlaneVector
  }

  private let constants = PlaneConstants()
  private let table: UnsafeMutablePointer<PlaneVector>
  private let stageCount: Int
  private let shortcut: PlaneShortcut?

  /// From chroma to red, green (twice) and blue: ITU-T T.871 § 7, times 2¹⁴.
  static let decoding: [Int16] = [22970, 5638, 11700, 29032]
  /// The shares of red and blue in luma, times 2¹⁶; then the factors of blue and red above luma, times 2¹⁵.
  private static let encoding: [Int16] = [19595, 7471, 18492, 23373]

  /// A kernel of stages; nil when their numbers are too large for it.
  init?(_ stages: [AffineColour]) {
    guard let numbers = PlaneStages(stages) else { return nil }
    table = constants.table(Self.decoding + Self.encoding + numbers.numbers)
    stageCount = stages.count
    shortcut = stages.count == 1 ? PlaneShortcut(stages[0], constants) : nil
  }

  /// Computes the luma rows `row` and `row + 1` of one band, and the chroma that belongs to them, from another, which is
  /// surrounded. Both are as wide; `row` is even. Not on two threads at once.
  ///
  /// First the short cut is tried everywhere, then the rest is done: of branches in turn many would be mispredicted.
  func apply(to source: PlaneBand, row: Int, into result: PlaneBand) {
    defer { withExtendedLifetime(constants) {} }
    let (sharing, kept) = (source.planes[1].sharing, result.planes[1].sharing)
    let (rows, newRows) = (PlaneRowPair(source, row: row), PlaneRowPair(result, row: row))
    // The rows of chroma on the other side of each row of luma.
    let beyond = sharing.vertical == 2 ? source.planes[1].stride : 0
    let shortcut = kept == .quarter && (sharing == .quarter || sharing == .full) ? shortcut : nil
    let count = source.planes[0].width / 16
    for first in stride(from: 0, to: count, by: UInt64.bitWidth) {
      let columns = first..<min(first + UInt64.bitWidth, count)
      // A bit for each that is to be done.
      var left = UInt64.max >> (UInt64.bitWidth - columns.count)
      if let shortcut {
        left = shortcut.apply(to: rows, columns, shared: sharing == .quarter, nextRow: beyond, into: newRows)
      }
      while left != 0 {
        apply(
          to: rows, first + left.trailingZeroBitCount, sharing.horizontal == 2, beyond: beyond, into: newRows, kept)
        left &= left - 1
      }
    }
  }

  /// Computes 16 columns.
  @inline(__always)
  private func apply(
    to rows: PlaneRowPair, _ index: Int, _ sharesColumns: Bool, beyond: Int, into newRows: PlaneRowPair,
    _ kept: ChromaSampling
  ) {
    let (blue, red) = (rows.blue, rows.red)
    let upper = terms(blue.upper, red.upper, index, beyond: -beyond, sharesColumns: sharesColumns)
    let lower = terms(blue.lower, red.lower, index, beyond: beyond, sharesColumns: sharesColumns)
    let a = pixels(rows.luma.upper, index, upper, into: newRows.luma.upper)
    let b = pixels(rows.luma.lower, index, lower, into: newRows.luma.lower)
    let (newBlue, newRed) = (newRows.blue, newRows.red)
    switch (kept.horizontal, kept.vertical) {
    case (2, 2):
      toBlue((a.even.blue &+ a.odd.blue) &>> 1 &+ (b.even.blue &+ b.odd.blue) &>> 1).store(newBlue.upper, index)
      toRed((a.even.red &+ a.odd.red) &>> 1 &+ (b.even.red &+ b.odd.red) &>> 1).store(newRed.upper, index)
    case (2, _):
      toBlue(a.even.blue &+ a.odd.blue).store(newBlue.upper, index)
      toBlue(b.even.blue &+ b.odd.blue).store(newBlue.lower, index)
      toRed(a.even.red &+ a.odd.red).store(newRed.upper, index)
      toRed(b.even.red &+ b.odd.red).store(newRed.lower, index)
    case (_, 2):
      store(toBlue(a.even.blue &+ b.even.blue), toBlue(a.odd.blue &+ b.odd.blue), newBlue.upper, index)
      store(toRed(a.even.red &+ b.even.red), toRed(a.odd.red &+ b.odd.red), newRed.upper, index)
    default:
      store(toBlue(a.even.blue &<< 1), toBlue(a.odd.blue &<< 1), newBlue.upper, index)
      store(toBlue(b.even.blue &<< 1), toBlue(b.odd.blue &<< 1), newBlue.lower, index)
      store(toRed(a.even.red &<< 1), toRed(a.odd.red &<< 1), newRed.upper, index)
      store(toRed(b.even.red &<< 1), toRed(b.odd.red &<< 1), newRed.lower, index)
    }
  }

  @inline(__always)
  private func terms(
    _ blue: PlaneSamples, _ red: PlaneSamples, _ index: Int, beyond: Int, sharesColumns: Bool
  ) -> (even: Terms, odd: Terms) {
    let blue = chroma(blue, index, beyond: beyond, sharesColumns: sharesColumns)
    let red = chroma(red, index, beyond: beyond, sharesColumns: sharesColumns)
    return (terms(blue.even, red.even), terms(blue.odd, red.odd))
  }

  /// Chroma of 16 columns, less 128, times 256: of each direction in which it is shared, three quarters of the sample and
  /// one of its neighbour on the pixel's side.
  @inline(__always)
  private func chroma(_ row: PlaneSamples, _ index: Int, beyond: Int, sharesColumns: Bool) -> PlaneVectorPair {
    if sharesColumns {
      let (left, right) = (between(row - 1, index, beyond), between(row + 1, index, beyond))
      let own = between(row, index, beyond) &* 3 &- 2048
      return PlaneVectorPair(even: (own &+ left) &<< 4, odd: (own &+ right) &<< 4)
    }
    let (own, other) = (PlaneVectorPair.load(row, index), PlaneVectorPair.load(row + beyond, index))
    return PlaneVectorPair(
      even: (own.even &* 3 &+ other.even &- 512) &<< 6, odd: (own.odd &* 3 &+ other.odd &- 512) &<< 6)
  }

  /// Chroma of 8 columns, times 4.
  @inline(__always)
  private func between(_ row: PlaneSamples, _ index: Int, _ beyond: Int) -> PlaneVector {
    PlaneVector.load(row, index) &* 3 &+ PlaneVector.load(row + beyond, index)
  }

  /// What chroma, less 128, times 256, adds to each colour.
  @inline(__always)
  private func terms(_ blue: PlaneVector, _ red: PlaneVector) -> Terms {
    return Terms(
      red: red.upperHalf(table), green: PlaneVector() &- blue.upperHalf(table + 1) &- red.upperHalf(table + 2),
      blue: blue.upperHalf(table + 3))
  }

  @inline(__always)
  private func pixels(
    _ luma: PlaneSamples, _ index: Int, _ terms: (even: Terms, odd: Terms), into newLuma: PlaneSamples
  ) -> (even: Pixel, odd: Pixel) {
    let samples = PlaneVectorPair.load(luma, index)
    let (even, odd) = (pixel(samples.even &<< 6, terms.even), pixel(samples.odd &<< 6, terms.odd))
    store((even.luma &+ 32) &>> 6, (odd.luma &+ 32) &>> 6, newLuma, index)
    return (even, odd)
  }

  @inline(__always)
  private func pixel(_ luma: PlaneVector, _ terms: Terms) -> Pixel {
    let top = PlaneVector(repeating: 255 << 6)
    var red = (luma &+ terms.red).limited(to: top)
    var green = (luma &+ terms.green).limited(to: top)
    var blue = (luma &+ terms.blue).limited(to: top)
    var at = table + 8
    for _ in 0..<stageCount {
      let r = red.upperHalf(at) &+ green.upperHalf(at + 1) &+ blue.upperHalf(at + 2) &+ (at + 9).pointee
      let g = red.upperHalf(at + 3) &+ green.upperHalf(at + 4) &+ blue.upperHalf(at + 5) &+ (at + 10).pointee
      let b = red.upperHalf(at + 6) &+ green.upperHalf(at + 7) &+ blue.upperHalf(at + 8) &+ (at + 11).pointee
      red = r.limited(to: (at + 12).pointee) &* (at + 13).pointee
      green = g.limited(to: (at + 12).pointee) &* (at + 13).pointee
      blue = b.limited(to: (at + 12).pointee) &* (at + 13).pointee
      at += PlaneStages.stride
    }
    // 0.299 R + 0.587 G + 0.114 B.
    let luma =
      green &+ (red &- green).upperHalf(table + 4) &+ (blue &- green).upperHalf(table + 5)
    return Pixel(luma: luma, blue: blue &- luma, red: red &- luma)
  }

  /// Cb of how much blue differs from luma, in samples times 128.
  @inline(__always)
  private func toBlue(_ difference: PlaneVector) -> PlaneVector { chroma(difference, table + 6) }

  /// Cr of how much red differs from luma, in samples times 128.
  @inline(__always)
  private func toRed(_ difference: PlaneVector) -> PlaneVector { chroma(difference, table + 7) }

  @inline(__always)
  private func chroma(_ difference: PlaneVector, _ factor: UnsafeMutablePointer<PlaneVector>) -> PlaneVector {
    // 128 · 64 and a half; half of 255 above 128 would round to 256.
    ((difference.upperHalf(factor) &+ 8224) &>> 6).lesser(PlaneVector(repeating: 255))
  }

  @inline(__always)
  private func store(_ even: PlaneVector, _ odd: PlaneVector, _ row: PlaneSamples, _ index: Int) {
    PlaneVectorPair(even: even, odd: odd).store(row, index)
  }
}
