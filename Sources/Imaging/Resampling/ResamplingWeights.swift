/// Which samples of a line make each sample of another, and how much of each: a kernel around the place of the new
/// sample, widened to the distance of new samples when there are fewer of them. Cut off at the ends of the line; weights
/// sum to 1.
final class ResamplingWeights {
  /// Samples that are made.
  let count: Int
  /// Weights of each new sample, a multiple of 4; behind its own there are zeros.
  let stride: Int
  /// For each new sample those that it is made of. Neither end ever goes back.
  let ranges: [Range<Int>]
  /// `stride` weights for each new sample.
  let weights: UnsafeMutablePointer<Float>
  private let memory: UnsafeMutablePointer<SIMD4<Float>>

  /// The weights for a side.
  init(_ axis: ResamplingAxis, _ kernel: ResamplingKernel) {
    let (scale, widening) = (axis.scale, max(axis.scale, 1))
    let support = kernel.support * widening
    count = axis.count
    ranges = (0..<axis.count).map { index in
      let centre = axis.start + (Double(index) + 0.5) * scale
      let first = min(max(Int((centre - support + 0.5).rounded(.down)), 0), axis.length - 1)
      let end = min(max(Int((centre + support + 0.5).rounded(.down)), first + 1), axis.length)
      return first..<end
    }
    stride = ((ranges.map(\.count).max() ?? 0) + 3) / 4 * 4
    memory = .allocate(capacity: count * stride / 4)
    memory.initialize(repeating: .zero, count: count * stride / 4)
    weights = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: Float.self)
    for (index, range) in ranges.enumerated() {
      let centre = axis.start + (Double(index) + 0.5) * scale
      let values = range.map { kernel.weight((Double($0) + 0.5 - centre) / widening) }
      let sum = values.reduce(0, +)
      for (place, value) in values.enumerated() { weights[index * stride + place] = Float(value / sum) }
    }
  }

  deinit { memory.deallocate() }

  /// The weights of a new sample by fours.
  func quads(for new: Int) -> UnsafePointer<SIMD4<Float>> { UnsafePointer(memory + new * (stride / 4)) }

  /// The weight of an old sample, which must be in the range, for a new one.
  func weight(of old: Int, for new: Int) -> Float { weights[new * stride + old - ranges[new].lowerBound] }
}
