import Model
import Synchronization

/// The filtrations in progress by result. The first one for a result makes it, the others begin after it and copy it.
final class SharedFiltrations: Sendable {
  /// Also whether damage is accepted, which may change while entries are in the queues.
  private struct Key: Hashable {
    let result: ResultKey
    let acceptsDamage: Bool

    init(_ result: ResultKey) { (self.result, acceptsDamage) = (result, result.acceptsDamage) }
  }

  private let leaders = Mutex<[Key: ImageFiltration]>([:])

  /// Makes a filtration begin after another one with the same result, if there is one. Must be called when its source
  /// is known and before its download has finished, after which it may begin.
  func join(_ filtration: ImageFiltration) {
    // Copying the source costs the same as copying the result.
    guard let key = filtration.key, !key.isCopy else { return }
    leaders.withLock { leaders in
      if let leader = leaders[Key(key)] {
        filtration.follow(leader)
      } else {
        leaders[Key(key)] = filtration
        filtration.lead(key)
      }
    }
  }

  /// Records that a filtration has ended. Later filtrations do not wait for it.
  func end(_ key: ResultKey) { leaders.withLock { $0[Key(key)] = nil } }
}
