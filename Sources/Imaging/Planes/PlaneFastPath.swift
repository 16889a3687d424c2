/// The coefficients of the fast path, for columns in which no pixel clips before or after a single stage: an affine map of
/// red, green and blue is then one of Y, Cb and Cr, and the chroma of a result in 4:2:0 is that of the mean of its four
/// pixels.
struct PlaneFastPath {
  /// Four for each of output Y, Cb and Cr: `coefficients(_:of:plus:)`.
  let numbers: [Int16]

  /// The factor of computed samples.
  static let scale = 16.0

  /// Computes the coefficients of a stage; nil when one does not fit into 16 bits.
  init?(_ stage: AffineColour) {
    let ycc = stage.inYCbCr.ycc
    let maps = [
      Self.coefficients(ycc[0], plus: 0.5), Self.coefficients(ycc[1], of: 4, plus: 128.5),
      Self.coefficients(ycc[2], of: 4, plus: 128.5),
    ]
    guard let numbers = Self.integers(maps) else { return nil }
    self.numbers = numbers
  }

  /// The coefficients of a map from Y, Cb − 128, Cr − 128 and 1, for the sum of `count` luma samples: of (Y − 128) · 64, of
  /// (Cb − 128) · 256 and (Cr − 128) · 256, and a constant. The result is in samples times `scale`.
  static func coefficients(_ map: SIMD4<Double>, of count: Double = 1, plus offset: Double = 0) -> [Double] {
    // Compensates that two or three products are rounded down.
    let constant = (map.w + offset + 128 * map.x) * scale + 1
    return [map.x * 1024 * scale / count, map.y * 256 * scale, map.z * 256 * scale, constant]
  }

  /// Rounds coefficients to 16 bits; nil when one does not fit.
  static func integers(_ maps: [[Double]]) -> [Int16]? {
    let numbers = maps.joined().compactMap { Int16(exactly: $0.rounded()) }
    return numbers.count == maps.joined().count ? numbers : nil
  }
}
