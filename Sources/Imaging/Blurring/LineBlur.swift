/// Blurs a line along itself with three boxes, at a cost that does not depend on their sizes. Outside the line are zeros.
///
/// Samples are rounded as those of `MovingAverage` are.
final class LineBlur<Sample: BlurSample> {
  /// Samples by which the result is longer than the line at either end.
  let margin: Int
  private let boxes: [Int]
  private let width: Int
  private let lead: Int
  private let memory: UnsafeMutablePointer<Sample>
  private let source, target: UnsafeMutablePointer<Sample>

  /// A blur of lines of `width` samples.
  init(width: Int, _ boxes: BoxSizes) {
    self.width = width
    self.boxes = boxes.sizes
    margin = boxes.delay
    // Zeros that a box sees before the first sample.
    lead = boxes.sizes.max() ?? 1
    let capacity = lead + width + 2 * margin
    memory = .allocate(capacity: 2 * capacity)
    memory.initialize(repeating: .zero, count: 2 * capacity)
    (source, target) = (memory + lead, memory + capacity + lead)
  }

  deinit { memory.deallocate() }

  /// Where the line is to be put, before each blur.
  var line: UnsafeMutablePointer<Sample> { source }

  /// Blurs the line; the result begins `margin` samples before the line did, and is valid until the next.
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
