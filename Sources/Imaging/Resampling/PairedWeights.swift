import CPlanes

/// Weights as integers, for pairs of input samples: the first has samples 0 and 1. Those of an output sample sum to exactly 1, so
/// that an area of one colour keeps it.
final class PairedWeights: KeptWeights, @unchecked Sendable {  // never changes after `init`
  /// Output samples.
  let count: Int
  /// The largest number of pairs of an output sample.
  let maxCount: Int
  /// The pairs of each output sample with their weights.
  let pairs: UnsafePointer<cplanes_pairs>
  private let memory: UnsafeMutablePointer<Int16>

  private static let recent = RecentWeights<PairedWeights>()
  /// A weight of 1.
  private static let unit: Float = 16384

  /// The weights of `resize()`.
  static func resizing(_ axis: ResamplingAxis) -> PairedWeights {
    recent.weights(of: axis) { PairedWeights(ResamplingWeights(axis, axis.isIdentity ? .nearest : .lanczos3)) }
  }

  /// Rounds weights, and limits each to 16 bits: nearly 2. None of a picture that is reduced is as large as 1.3.
  init(_ weights: ResamplingWeights) {
    count = weights.count
    // A range that begins or ends within a pair.
    maxCount = weights.maxCount / 2 + 1
    memory = .allocate(capacity: count * 2 * maxCount)
    memory.initialize(repeating: 0, count: count * 2 * maxCount)
    let pairs = UnsafeMutablePointer<cplanes_pairs>.allocate(capacity: count)
    for (index, range) in weights.ranges.enumerated() {
      let (first, end) = (range.lowerBound / 2, (range.upperBound + 1) / 2)
      let own = memory + index * 2 * maxCount
      (pairs + index).initialize(to: cplanes_pairs(first: Int32(first), count: Int32(end - first), weights: own))
      // The differences of rounded sums, so that no error adds up.
      let floats = weights.weights(for: index)
      var (sum, rounded): (Float, Float) = (0, 0)
      for offset in 0..<range.count {
        sum += floats[offset]
        let next = (sum * Self.unit).rounded()
        own[range.lowerBound - 2 * first + offset] = Int16(min(max(next - rounded, -32768), 32767))
        rounded = next
      }
    }
    self.pairs = UnsafePointer(pairs)
  }

  deinit {
    pairs.deallocate()
    memory.deallocate()
  }

  var bytes: Int { count * (2 * maxCount * MemoryLayout<Int16>.size + MemoryLayout<cplanes_pairs>.size) }

  /// The pairs of an output sample.
  func range(of output: Int) -> Range<Int> {
    let pairs = pairs[output]
    return Int(pairs.first)..<Int(pairs.first + pairs.count)
  }
}
