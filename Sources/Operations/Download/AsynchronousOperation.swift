import Foundation
import Synchronization

/// An operation that occupies a slot of its queue, but no thread while it waits: it ends when `enter(.finished)` is called.
package class AsynchronousOperation: Operation, @unchecked Sendable {  // what changes is in a Mutex
  enum Phase { case waiting, executing, finished }

  private let phase = Mutex(Phase.waiting)

  package override var isAsynchronous: Bool { true }
  package override var isExecuting: Bool { phase.withLock { $0 == .executing } }
  package override var isFinished: Bool { phase.withLock { $0 == .finished } }

  /// Changes the phase. The queue observes it by key-value observing.
  func enter(_ phase: Phase) {
    let key = phase == .executing ? "isExecuting" : "isFinished"
    willChangeValue(forKey: key)
    self.phase.withLock { $0 = phase }
    didChangeValue(forKey: key)
  }
}
