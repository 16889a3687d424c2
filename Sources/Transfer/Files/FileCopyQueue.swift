import Foundation
import Synchronization

/// Runs file transfers on a few threads, so that a slow disk does not block the engine's thread.
final class FileCopyQueue: Sendable {
  private struct State {
    var copies: [TransferID: FileCopy] = [:]
    var isClosed = false
  }

  private let configuration: TransferConfiguration
  private let state = Mutex(State())
  private let operations = OperationQueue()

  private static let maxConcurrentCopies = 4

  init(configuration: TransferConfiguration) {
    self.configuration = configuration
    operations.maxConcurrentOperationCount = Self.maxConcurrentCopies
  }

  /// Starts a copy. Returns `false` when the queue is closed.
  func start(_ queued: QueuedTransfer) -> Bool {
    let copy = FileCopy(queued)
    let isOpen = state.withLock { state in
      guard !state.isClosed else { return false }
      state.copies[queued.id] = copy
      return true
    }
    guard isOpen else { return false }
    operations.addOperation { [self] in
      let result = copy.result(configuration)
      _ = state.withLock { $0.copies.removeValue(forKey: queued.id) }
      queued.completion(result)
    }
    return true
  }

  /// Cancels a copy; does nothing when it has ended.
  func cancel(_ id: TransferID) {
    state.withLock { $0.copies[id] }?.cancel()
  }

  /// Cancels all copies; later ones are not accepted.
  func close() {
    let copies = state.withLock { state in
      state.isClosed = true
      return Array(state.copies.values)
    }
    for copy in copies { copy.cancel() }
  }

  /// Waits until every completion has returned. Must not be called from a completion.
  func waitUntilFinished() { operations.waitUntilAllOperationsAreFinished() }
}
