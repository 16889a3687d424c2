import Synchronization

/// A pool of indexes in memory for small manifests. Opening an index and creating its tables takes longer than planning
/// a manifest of one entry.
package final class JobIndexPool: Sendable {
  /// An index that is not in use.
  private struct Idle: @unchecked Sendable {  // it is handed over as a whole
    let index: JobIndex
  }

  /// The most indexes that are kept.
  static let limit = 32

  private let idle = Mutex<[Idle]>([])

  package init() {}

  /// Takes an empty index in memory.
  /// - Throws: `SQLiteError`.
  package func take() throws -> JobIndex {
    guard let index = idle.withLock({ $0.popLast() })?.index else { return try JobIndex(creating: .memory) }
    try index.clear()
    return index
  }

  /// Returns an index to the pool. An index in a file is released instead.
  package func give(back index: JobIndex) {
    guard index.isInMemory else { return }
    let idle = Idle(index: index)
    self.idle.withLock { if $0.count < Self.limit { $0.append(idle) } }
  }
}
