/// Which samples of a line make each sample of another, and how much of each: a kernel around the place of the new
/// sample, widened to the distance of new samples when there are fewer of them. Cut off at the ends of the line; weights
/// sum to 1.
final class ResamplingWeights {
  /// Samples that are made.
  let count: Int
  /// For each new sample those that it is made of. Neither end ever goes back.
  let ranges: [Range<Int>]
  private let memory: UnsafeMutablePointer<Float>
  private let stride: Int

  /// The weights for a side.
  init(_ axis: ResamplingAxis, _ kernel: ResamplingKernel) {
    let (scale, widening) = (axis.scale, max(axis.scale, 1))
    let support = kernel.support * widening
    func centre(_ index: Int) -> Double { axis.start + (Double(index) + 0.5) * scale }
    count = axis.count
    ranges = (0..<axis.count).map { index in
      let centre = centre(index)
      let first = min(max(Int((centre - support + 0.5).rounded(.down)), 0), axis.length - 1)
      let end = min(max(Int((centre + support + 0.5).rounded(.down)), first + 1), axis.length)
      return first..<end
    }
    stride = ranges.map(\.count).max() ?? 0
    memory = .allocate(capacity: count * stride)
    memory.initialize(repeating: 0, count: count * stride)
    withUnsafeTemporaryAllocation(of: Double.self, capacity: stride) { values in
      guard let values = values.baseAddress else { return }
      for (index, range) in ranges.enumerated() {
        let distance = Double(range.lowerBound) + 0.5 - centre(index)
        kernel.fill(values, count: range.count, from: distance / widening, step: 1 / widening)
        let sum = UnsafeBufferPointer(start: values, count: range.count).reduce(0, +)
        for offset in 0..<range.count { memory[index * stride + offset] = Float(values[offset] / sum) }
      }
    }
  }

  deinit { memory.deallocate() }

  /// The weights of the samples that make a new one, in their order.
  func weights(for new: Int) -> UnsafePointer<Float> { UnsafePointer(memory + new * stride) }

  /// The weight of an old sample, which must be in the range, for a new one.
  func weight(of old: Int, for new: Int) -> Float { memory[new * stride + old - ranges[new].lowerBound] }
}
