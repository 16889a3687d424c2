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

  private let constants: PlaneConstants
  private let stageCount: Int
  private let shortcut: PlaneShortcut?

  /// From chroma to red, green (twice) and blue: ITU-T T.871 § 7, times 2¹⁴.
  static let decoding: [Int16] = [22970, 5638, 11700, 29032]
  /// The shares of red and blue in luma, times 2¹⁶; then the factors of blue and red above luma, times 2¹⁵.
  private static let encoding: [Int16] = [19595, 7471, 18492, 23373]

  /// A kernel of stages; nil when their numbers are too large for it.
  init?(_ stages: [AffineColour]) {
    guard let numbers = PlaneStages(stages) else { return nil }
    constants = PlaneConstants(Self.decoding + Self.encoding + numbers.numbers)
    stageCount = stages.count
    shortcut = stages.count == 1 ? PlaneShortcut(stages[0]) : nil
  }

  /// Computes the luma rows `row` and `row + 1` of one band, and the chroma that belongs to them, from another, which is
  /// surrounded. Both are as wide; `row` is even.
  func apply(to source: PlaneBand, row: Int, into result: PlaneBand) {
    let (shared, kept) = (source.planes[1].sharing, result.planes[1].sharing)
    let luma = Self.rows(source.planes[0], row)
    let newLuma = Self.rows(result.planes[0], row)
    let (blue, red) = (Self.rows(source.planes[1], row), Self.rows(source.planes[2], row))
    let (newBlue, newRed) = (Self.rows(result.planes[1], row), Self.rows(result.planes[2], row))
    let shortcut = shared == .quarter && kept == .quarter ? shortcut : nil
    let sharesColumns = shared.horizontal == 2
    // The rows of chroma on the other side of each row of luma.
    let beyond = shared.vertical == 2 ? source.planes[1].stride : 0
    for index in 0..<(source.planes[0].width / 16) {
      if let shortcut,
        shortcut.apply(luma, blue.0, red.0, index, nextRow: beyond, newLuma, newBlue.0, newRed.0)
      {
        continue
      }
      let upper = terms(blue.0, red.0, index, beyond: -beyond, sharesColumns: sharesColumns)
      let lower = terms(blue.1, red.1, index, beyond: beyond, sharesColumns: sharesColumns)
      let a = pixels(luma.0, index, upper, into: newLuma.0)
      let b = pixels(luma.1, index, lower, into: newLuma.1)
      switch (kept.horizontal, kept.vertical) {
      case (2, 2):
        toBlue((a.even.blue &+ a.odd.blue) &>> 1 &+ (b.even.blue &+ b.odd.blue) &>> 1).store(newBlue.0, index)
        toRed((a.even.red &+ a.odd.red) &>> 1 &+ (b.even.red &+ b.odd.red) &>> 1).store(newRed.0, index)
      case (2, _):
        toBlue(a.even.blue &+ a.odd.blue).store(newBlue.0, index)
        toBlue(b.even.blue &+ b.odd.blue).store(newBlue.1, index)
        toRed(a.even.red &+ a.odd.red).store(newRed.0, index)
        toRed(b.even.red &+ b.odd.red).store(newRed.1, index)
      case (_, 2):
        store(toBlue(a.even.blue &+ b.even.blue), toBlue(a.odd.blue &+ b.odd.blue), newBlue.0, index)
        store(toRed(a.even.red &+ b.even.red), toRed(a.odd.red &+ b.odd.red), newRed.0, index)
      default:
        store(toBlue(a.even.blue &<< 1), toBlue(a.odd.blue &<< 1), newBlue.0, index)
        store(toBlue(b.even.blue &<< 1), toBlue(b.odd.blue &<< 1), newBlue.1, index)
        store(toRed(a.even.red &<< 1), toRed(a.odd.red &<< 1), newRed.0, index)
        store(toRed(b.even.red &<< 1), toRed(b.odd.red &<< 1), newRed.1, index)
      }
    }
  }

  /// The two rows of a plane that belong to two rows of luma; one row twice when they share it.
  private static func rows(_ plane: PlaneBand.Plane, _ row: Int) -> (PlaneSamples, PlaneSamples) {
    (plane.row(row / plane.sharing.vertical), plane.row((row + 1) / plane.sharing.vertical))
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
    let table = constants.table
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
    var at = constants.table + 8
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
      green &+ (red &- green).upperHalf(constants.table + 4) &+ (blue &- green).upperHalf(constants.table + 5)
    return Pixel(luma: luma, blue: blue &- luma, red: red &- luma)
  }

  /// Cb of how much blue differs from luma, in samples times 128.
  @inline(__always)
  private func toBlue(_ difference: PlaneVector) -> PlaneVector { chroma(difference, constants.table + 6) }

  /// Cr of how much red differs from luma, in samples times 128.
  @inline(__always)
  private func toRed(_ difference: PlaneVector) -> PlaneVector { chroma(difference, constants.table + 7) }

  @inline(__always)
  private func chroma(_ difference: PlaneVector, _ factor: UnsafeMutablePointer<PlaneVector>) -> PlaneVector {
    // 128 · 64 and a half; half of 255 above 128 would round to 256.
    pointwiseMin((difference.upperHalf(factor) &+ 8224) &>> 6, PlaneVector(repeating: 255))
  }

  @inline(__always)
  private func store(_ even: PlaneVector, _ odd: PlaneVector, _ row: PlaneSamples, _ index: Int) {
    PlaneVectorPair(even: even, odd: odd).store(row, index)
  }
}
