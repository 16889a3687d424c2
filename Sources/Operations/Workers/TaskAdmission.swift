import Foundation
import Imaging

/// Lets tasks be done beside one another, or one while no other is.
final class TaskAdmission: @unchecked Sendable {  // all state is guarded by `changed`
  private let changed = NSCondition()
  private var running = 0
  private var isTaken = false
  /// Tasks that are to be done alone and wait: no other begins.
  private var waitingAlone = 0
  private var waiting = 0

  /// The interval at which a waiting task looks whether it was cancelled, in seconds.
  private static let interval = 0.1

  /// Waits until a task may be done; it has to `leave` afterwards.
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
    // What is done alone is the only one that runs.
    isTaken = false
    if waiting > 0 { changed.broadcast() }
  }
}
