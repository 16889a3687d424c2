/// The input samples that contribute to each output sample of a side, and their weights: a kernel around the output
/// sample's place, widened to the distance of output samples when the side is reduced, and cut off at the ends of the side.
/// Weights sum to 1.
final class ResamplingWeights {
  /// Output samples.
  let count: Int
  /// The input samples of each output sample. Both bounds increase monotonically.
  let ranges: [Range<Int>]
  private let memory: UnsafeMutablePointer<Float>
  private let stride: Int

  /// Computes the weights for a side.
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

  /// The weights of the input samples of an output sample, in their order.
  func weights(for output: Int) -> UnsafePointer<Float> { UnsafePointer(memory + output * stride) }

  /// The weight of an input sample, which must be in the range, for an output sample.
  func weight(of input: Int, for output: Int) -> Float {
    memory[output * stride + input - ranges[output].lowerBound]
  }
}
