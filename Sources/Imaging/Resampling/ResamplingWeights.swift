import CPlanes
import Foundation

/// The input samples that contribute to each output sample of a side, and their weights: a kernel around the output
/// sample's position, widened to the distance of output samples when the side is reduced, and cut off at the ends of the side.
/// Weights sum to 1.
final class ResamplingWeights: KeptWeights, @unchecked Sendable {  // never changes after `init`
  /// Output samples.
  let count: Int
  /// The input samples of each output sample. Both bounds increase monotonically.
  let ranges: [Range<Int>]
  /// The largest number of input samples of an output sample.
  let maxCount: Int
  /// The input samples of each output sample with their weights.
  let taps: UnsafePointer<cplanes_taps>
  private let memory: UnsafeMutablePointer<Float>

  private static let recent = RecentWeights<ResamplingWeights>()

  /// The weights of `resize()`.
  static func resizing(_ axis: ResamplingAxis) -> ResamplingWeights {
    recent.weights(of: axis) { ResamplingWeights(axis, axis.isIdentity ? .nearest : .lanczos3) }
  }

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
    // Not a key path, for which the standard library would look up metadata of each range.
    maxCount = ranges.lazy.map { $0.count }.max() ?? 0
    let stride = maxCount
    memory = .allocate(capacity: count * stride)
    memory.initialize(repeating: 0, count: count * stride)
    let taps = UnsafeMutablePointer<cplanes_taps>.allocate(capacity: count)
    for (index, range) in ranges.enumerated() {
      (taps + index).initialize(
        to: cplanes_taps(
          first: Int32(range.lowerBound), count: Int32(range.count), weights: UnsafePointer(memory + index * stride)))
    }
    self.taps = UnsafePointer(taps)
    let steps = KernelSteps(kernel, step: 1 / widening)
    withUnsafeTemporaryAllocation(of: Double.self, capacity: stride) { values in
      guard let values = values.baseAddress else { return }
      for (index, range) in ranges.enumerated() {
        let distance = Double(range.lowerBound) + 0.5 - centre(index)
        steps.fill(values, count: range.count, from: distance / widening)
        let sum = UnsafeBufferPointer(start: values, count: range.count).reduce(0, +)
        for offset in 0..<range.count { memory[index * stride + offset] = Float(values[offset] / sum) }
      }
    }
  }

  deinit {
    taps.deallocate()
    memory.deallocate()
  }

  var bytes: Int {
    count * (maxCount * MemoryLayout<Float>.size + MemoryLayout<Range<Int>>.size + MemoryLayout<cplanes_taps>.size)
  }

  /// The weights of the input samples of an output sample, in their order.
  func weights(for output: Int) -> UnsafePointer<Float> { UnsafePointer(memory + output * maxCount) }

  /// The weight of an input sample, which must be in the range, for an output sample.
  func weight(of input: Int, for output: Int) -> Float { weights(for: output)[input - ranges[output].lowerBound] }
}

/// The weight of samples by their distance from the output sample.
enum ResamplingKernel {
  /// A sinc windowed by the main lobe of another: sinc(x) · sinc(x / 3) for |x| < 3 (Duchon 1979), as in Pillow and
  /// libvips.
  case lanczos3
  /// The sample at the position of the output sample, alone.
  case nearest
  /// A normal distribution, cut off at three standard deviations.
  case gaussian(deviation: Double)

  /// The distance from which on weights are 0.
  var support: Double {
    switch self {
    case .lanczos3: 3
    case .nearest: 0.5
    case .gaussian(let deviation): (3 * deviation).rounded(.up) + 0.5
    }
  }
}

/// A kernel at distances that are a step apart.
private struct KernelSteps {
  private let kernel: ResamplingKernel
  private let step: Double
  /// The sine and the cosine of a step of the Lanczos kernel, whose argument is a third of the distance, times π.
  private let angle: (sine: Double, cosine: Double)

  init(_ kernel: ResamplingKernel, step: Double) {
    (self.kernel, self.step) = (kernel, step)
    angle = (sin(.pi / 3 * step), cos(.pi / 3 * step))
  }

  /// Writes `count` weights: the first at `distance`, each of the others a step further; all within the support. They are
  /// not normalised.
  func fill(_ weights: UnsafeMutablePointer<Double>, count: Int, from distance: Double) {
    switch kernel {
    case .lanczos3: lanczos3(weights, count, .pi / 3 * distance, .pi / 3 * step)
    case .nearest: weights.update(repeating: 1, count: count)
    case .gaussian(let deviation):
      for index in 0..<count {
        let distance = distance + Double(index) * step
        weights[index] = exp(-distance * distance / (2 * deviation * deviation))
      }
    }
  }

  /// sin(3α) / (3α) · sin(α) / α, where sin(3α) = 3 sin(α) − 4 sin³(α). Sine and cosine are computed incrementally by the
  /// addition theorems: for small pictures library calls would take longer than the samples.
  private func lanczos3(_ weights: UnsafeMutablePointer<Double>, _ count: Int, _ first: Double, _ step: Double) {
    var (sine, cosine) = (sin(first), cos(first))
    for index in 0..<count {
      let angle = first + Double(index) * step
      let square = sine * sine
      weights[index] = angle.magnitude < 1e-6 ? 1 : (3 - 4 * square) * square / (3 * angle * angle)
      (sine, cosine) = (
        sine * self.angle.cosine + cosine * self.angle.sine, cosine * self.angle.cosine - sine * self.angle.sine
      )
    }
  }
}
