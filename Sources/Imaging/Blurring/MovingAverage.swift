/// Averages the last `count` lines, sample by sample, at a cost that does not depend on `count`: the new line is added to
/// a running sum and the oldest subtracted. Lines before the first are 0.
final class MovingAverage<Sample: BlurSample> {
  private let width: Int
  private let count: Int
  private let rounding: BlurRounding
  private let lines: UnsafeMutablePointer<Sample>
  private let sums: UnsafeMutablePointer<Sample>
  private var oldest = 0

  /// Creates an average of `count` lines of `width` samples of 0…1.
  init(width: Int, count: Int) {
    self.width = width
    self.count = count
    rounding = BlurRounding(count: count)
    lines = .allocate(capacity: width * count)
    lines.initialize(repeating: .zero, count: width * count)
    sums = .allocate(capacity: width)
    sums.initialize(repeating: .zero, count: width)
  }

  deinit {
    lines.deallocate()
    sums.deallocate()
  }

  /// Replaces a line by the average of the last lines, this one included.
  func push(_ line: UnsafeMutablePointer<Sample>) {
    let share = 1 / Float(count)
    let old = lines + oldest * width
    for index in 0..<width {
      let new = rounding.rounded(line[index])
      let sum = sums[index] + (new - old[index])
      old[index] = new
      sums[index] = sum
      line[index] = sum * share
    }
    oldest = oldest + 1 == count ? 0 : oldest + 1
  }
}

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
