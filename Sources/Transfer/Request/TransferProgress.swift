import Synchronization

/// How far a transfer is. Any thread may ask.
package final class TransferProgress: Sendable {
  private let received = Atomic(0)
  private let limited = Atomic(false)

  package init() {}

  /// Bytes of bodies that have arrived, redirects and error pages included.
  package var bytes: Int { received.load(ordering: .relaxed) }

  /// Whether its speed says nothing of the server: a rate limits it, or there is none.
  package var isLimited: Bool { limited.load(ordering: .relaxed) }

  func add(_ bytes: Int) { received.wrappingAdd(bytes, ordering: .relaxed) }

  package func setLimited() { limited.store(true, ordering: .relaxed) }
}
