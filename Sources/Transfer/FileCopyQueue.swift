import Foundation
import Synchronization

/// Runs file transfers on a few threads of their own, so that a slow disk never holds up the network.
final class FileCopyQueue: Sendable {
  private struct State {
    var copies: [TransferID: FileCopy] = [:]
    var isClosed = false
  }

  private let configuration: TransferConfiguration
  private let state = Mutex(State())
  private let operations = OperationQueue()

  /// How many files are copied at once.
  private static let width = 4

  init(configuration: TransferConfiguration) {
    self.configuration = configuration
    operations.maxConcurrentOperationCount = Self.width
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

  /// Cancels a copy; nothing happens when there is none of that name.
  func cancel(_ id: TransferID) {
    state.withLock { $0.copies[id] }?.cancel()
  }

  /// Cancels all copies and takes no more.
  func close() {
    let copies = state.withLock { state in
      state.isClosed = true
      return Array(state.copies.values)
    }
    for copy in copies { copy.cancel() }
  }

  /// Waits until every completion has returned. Not to be called from one.
  func waitUntilFinished() { operations.waitUntilAllOperationsAreFinished() }
}
