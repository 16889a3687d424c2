/// Blurs a line with three box blurs, at a cost that does not depend on their sizes. Samples outside the line are 0.
///
/// Samples are rounded as in `MovingAverage`.
final class HorizontalBlur<Sample: BlurSample> {
  /// Samples by which the result extends beyond the line at each end.
  let margin: Int
  private let boxes: [Int]
  private let width: Int
  private let lead: Int
  private let memory: UnsafeMutablePointer<Sample>
  private let source, target: UnsafeMutablePointer<Sample>

  /// Creates a blur for lines of `width` samples.
  init(width: Int, _ boxes: BoxSizes) {
    self.width = width
    self.boxes = boxes.sizes
    margin = boxes.delay
    // Zeros before the first sample.
    lead = boxes.sizes.max() ?? 1
    let capacity = lead + width + 2 * margin
    memory = .allocate(capacity: 2 * capacity)
    memory.initialize(repeating: .zero, count: 2 * capacity)
    (source, target) = (memory + lead, memory + capacity + lead)
  }

  deinit { memory.deallocate() }

  /// The memory for the line, which the caller fills before each blur.
  var line: UnsafeMutablePointer<Sample> { source }

  /// Blurs the line. The result begins `margin` samples before the line and is valid until the next call.
  func blur() -> UnsafeMutablePointer<Sample> {
    let count = width + 2 * margin
    (source + width).update(repeating: .zero, count: 2 * margin)
    let first = BlurRounding(count: boxes[0])
    for index in 0..<width { source[index] = first.rounded(source[index]) }
    pass(from: source, to: target, count, box: boxes[0], next: boxes[1])
    pass(from: target, to: source, count, box: boxes[1], next: boxes[2])
    pass(from: source, to: target, count, box: boxes[2], next: boxes[2])
    return target
  }

  @inline(__always)
  private func pass(
    from source: UnsafeMutablePointer<Sample>, to target: UnsafeMutablePointer<Sample>, _ count: Int, box: Int,
    next: Int
  ) {
    let (share, rounding) = (1 / Float(box), BlurRounding(count: next))
    var sum = Sample.zero
    for index in 0..<count {
      sum = sum + (source[index] - source[index - box])
      target[index] = rounding.rounded(sum * share)
    }
  }
}
