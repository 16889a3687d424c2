import Foundation
import Imaging

/// Lets tasks run at the same time, or one task alone.
final class TaskAdmission: @unchecked Sendable {  // all state is guarded by `changed`
  private let changed = NSCondition()
  private var running = 0
  private var isTaken = false
  /// The number of tasks that wait to run alone. While there are any, no other task begins.
  private var waitingAlone = 0
  private var waiting = 0

  /// The interval at which a waiting task checks for cancellation, in seconds.
  private static let interval = 0.1

  /// Waits until a task may begin. It must call `leave` when it ends.
  /// - Throws: `cancelled`.
  func enter(alone: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    changed.lock()
    defer { changed.unlock() }
    waiting += 1
    if alone { waitingAlone += 1 }
    defer {
      waiting -= 1
      if alone { waitingAlone -= 1 }
    }
    while isTaken || (alone ? running > 0 : waitingAlone > 0) {
      if isCancelled() {
        changed.broadcast()
        throw .cancelled
      }
      _ = changed.wait(until: Date(timeIntervalSinceNow: Self.interval))
    }
    running += 1
    isTaken = alone
  }

  func leave() {
    changed.lock()
    defer { changed.unlock() }
    running -= 1
    // A task that runs alone is the only one.
    isTaken = false
    if waiting > 0 { changed.broadcast() }
  }
}
