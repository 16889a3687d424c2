/// A type that box blurs average: a sample, or the channels of a pixel.
protocol BlurSample: BitwiseCopyable {
  static var zero: Self { get }
  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func * (a: Self, b: Float) -> Self
  static func + (a: Self, b: Float) -> Self
  static func - (a: Self, b: Float) -> Self
}

extension Float: BlurSample {}
extension SIMD4<Float>: BlurSample {}

/// Rounds samples of 0…1 to multiples of a power of two that is small enough for running sums to be exact: what is added
/// to a sum equals what is subtracted from it later, and a uniform picture stays uniform to its last pixel.
struct BlurRounding {
  /// Added and subtracted again: floats of this size differ by the power of two.
  private let size: Float

  /// Creates the rounding for sums of `count` samples, from 1. A float has 24 significant bits: up to 256 samples, 16 of
  /// them are fractional.
  init(count: Int) {
    let sumBits = Int.bitWidth - (count - 1).leadingZeroBitCount
    size = Float(1 << (23 - min(16, 24 - sumBits)))
  }

  /// The nearest multiple.
  @inline(__always)
  func rounded<Sample: BlurSample>(_ sample: Sample) -> Sample { sample + size - size }
}
