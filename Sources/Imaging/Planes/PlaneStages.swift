/// The coefficients of affine stages in 16 bits.
struct PlaneStages {
  /// For each stage nine factors, three offsets, the maximum of the result, and the factor from its scale to that of the
  /// input.
  let numbers: [Int16]

  /// Computes the coefficients; nil when the factors of a stage are too large.
  init?(_ stages: [AffineColour]) {
    let numbers = stages.compactMap(Self.numbers)
    guard numbers.count == stages.count else { return nil }
    self.numbers = numbers.flatMap(\.self)
  }

  /// Inputs are samples times 64, results samples times 4, 8, 16 or 32: the finest for which factors and sums fit.
  private static func numbers(of stage: AffineColour) -> [Int16]? {
    let factors = stage.rows.flatMap { [$0.x, $0.y, $0.z] }
    let largest = factors.map(\.magnitude).max() ?? 0
    let sum = stage.rows.map { $0.x.magnitude + $0.y.magnitude + $0.z.magnitude + $0.w.magnitude }.max() ?? 0
    guard let scale = [32.0, 16, 8, 4].first(where: { largest * 1024 * $0 <= 32767 && sum * 255 * $0 <= 32700 }) else {
      return nil
    }
    let multipliers = factors.map { Int16(($0 * 1024 * scale).rounded()) }
    let offsets = stage.rows.enumerated().map { index, row in
      // Each product is rounded down, by half a unit on average.
      let products = multipliers[(3 * index)..<(3 * index + 3)].filter { $0 != 0 }.count
      return Int16((row.w * 255 * scale + Double(products) / 2).rounded(.down))
    }
    return multipliers + offsets + [Int16(255 * scale), Int16(64 / scale)]
  }
}
