import Synchronization

/// Weights of which the last ones are kept.
protocol KeptWeights: AnyObject, Sendable {
  /// The size in memory.
  var bytes: Int { get }
}

/// The last weights of `resize()`: many pictures have the size of an earlier one.
final class RecentWeights<Weights: KeptWeights>: Sendable {
  private let kept = Mutex<[(axis: ResamplingAxis, weights: Weights)]>([])

  private static var maxCount: Int { 64 }
  private static var maxBytes: Int { 512 << 10 }

  /// Returns the kept weights of an axis, or makes and keeps them.
  func weights(of axis: ResamplingAxis, make: () -> Weights) -> Weights {
    let known = kept.withLock { kept -> Weights? in
      guard let index = kept.lastIndex(where: { $0.axis == axis }) else { return nil }
      kept.append(kept.remove(at: index))
      return kept[kept.count - 1].weights
    }
    if let known { return known }
    let weights = make()
    guard weights.bytes <= Self.maxBytes else { return weights }
    kept.withLock { kept in
      kept.append((axis, weights))
      var bytes = kept.reduce(0) { $0 + $1.weights.bytes }
      while bytes > Self.maxBytes || kept.count > Self.maxCount { bytes -= kept.removeFirst().weights.bytes }
    }
    return weights
  }
}
