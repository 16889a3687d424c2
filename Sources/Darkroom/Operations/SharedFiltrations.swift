import Synchronization

/// Which filtrations make the same product: each waits for the one before it, and copies what that has made.
final class SharedFiltrations: Sendable {
  /// By product, the filtration that came last.
  private let last = Mutex<[Product: ImageFiltration]>([:])

  /// Has a filtration wait for another that makes the same. To be called when its source is known, and before its download
  /// has finished: until then it cannot begin.
  func join(_ filtration: ImageFiltration) {
    guard let product = filtration.product else { return }
    last.withLock { last in
      if let earlier = last[product] { filtration.follow(earlier) }
      last[product] = filtration
    }
  }

  /// The filtration has ended: whoever comes now does not wait for it.
  func leave(_ filtration: ImageFiltration, making product: Product) {
    last.withLock { last in
      if last[product] === filtration { last[product] = nil }
    }
  }
}
