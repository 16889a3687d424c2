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
