import Synchronization

/// Indexes in memory that are used for one small manifest after the other: to open one and create its tables takes longer
/// than to plan a manifest of one entry.
package final class JobIndexPool: Sendable {
  /// An index in nobody's use.
  private struct Idle: @unchecked Sendable {  // it is handed over as a whole
    let index: JobIndex
  }

  /// More are not kept.
  static let limit = 32

  private let idle = Mutex<[Idle]>([])

  package init() {}

  /// An empty index in memory.
  /// - Throws: `SQLiteError`.
  package func take() throws -> JobIndex {
    guard let index = idle.withLock({ $0.popLast() })?.index else { return try JobIndex(creating: .memory) }
    try index.clear()
    return index
  }

  /// Keeps an index for another manifest. One in a file is not kept.
  package func give(back index: JobIndex) {
    guard index.isInMemory else { return }
    let idle = Idle(index: index)
    self.idle.withLock { if $0.count < Self.limit { $0.append(idle) } }
  }
}
