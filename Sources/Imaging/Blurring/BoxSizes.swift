/// The three boxes that approximate a Gaussian (Filter Effects Module Level 1 § 9.4, feGaussianBlur): d = ⌊σ · 3√(2π)/4 +
/// 0.5⌋; three boxes of an odd d, or two of an even d, shifted by half a sample to the left and to the right, and one of
/// d + 1. Used for every deviation, as in Chromium.
struct BoxSizes {
  /// Samples of each box, from 1.
  let sizes: [Int]

  /// The largest deviation, to which larger ones are clamped. Chromium's limit.
  static let maxDeviation = 532.0

  /// Computes the boxes for a deviation of 0…`maxDeviation` samples.
  init(deviation: Double) {
    let size = max(Int((deviation * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down)), 1)
    sizes = [size, size, size % 2 == 1 ? size : size + 1]
  }

  /// Whether nothing is blurred: deviations below 0.8 give boxes of one sample.
  var isIdentity: Bool { sizes.allSatisfy { $0 == 1 } }

  /// The distance in samples from a result to the last sample that contributes to it.
  var delay: Int { (sizes.reduce(0, +) - sizes.count) / 2 }
}
