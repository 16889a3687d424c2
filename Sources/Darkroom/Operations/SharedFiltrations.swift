import Synchronization

/// Which filtrations are about to make which result: the first leads, the others begin after it and copy what it has made.
final class SharedFiltrations: Sendable {
  private let leaders = Mutex<[ResultKey: ImageFiltration]>([:])

  /// Has a filtration begin after another that makes the same, if there is one. To be called when its source is known, and
  /// before its download has finished: until then it cannot begin.
  func join(_ filtration: ImageFiltration) {
    // A copy of the source is as cheap as one of the result.
    guard let key = filtration.key, !key.isCopy else { return }
    leaders.withLock { leaders in
      if let leader = leaders[key] {
        filtration.follow(leader)
      } else {
        leaders[key] = filtration
        filtration.lead(key)
      }
    }
  }

  /// A filtration has ended: whoever comes now does not begin after it.
  func end(_ key: ResultKey) { leaders.withLock { $0[key] = nil } }
}
