/// Rounds samples of 0…1 to multiples of a power of two, so fine that the sum of some of them is never rounded: then what
/// is added to a sum is exactly what is subtracted from it later, and a flat picture stays flat to its last pixel.
struct BlurRounding {
  /// What is added and subtracted again: the distance of neighbouring floats of this size is that of the multiples.
  private let size: Float

  /// For sums of `count` samples, from 1. A float has 24 bits: up to 256 samples, 16 of them are behind the point.
  init(count: Int) {
    let sumBits = Int.bitWidth - (count - 1).leadingZeroBitCount
    size = Float(1 << (23 - min(16, 24 - sumBits)))
  }

  /// The nearest multiple.
  @inline(__always)
  func rounded<Sample: BlurSample>(_ sample: Sample) -> Sample { sample + size - size }
}
