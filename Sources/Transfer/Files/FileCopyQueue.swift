import Dispatch
import Synchronization
import System

/// Runs file transfers on a few threads, first in, first out, so that a slow disk does not block the engine's thread.
final class FileCopyQueue: Sendable {
  private struct State {
    /// Copies that wait or run.
    var copies: [TransferID: FileCopy] = [:]
    /// Those that wait, in their order.
    var waiting: [FileCopy] = []
    /// The number of threads that run copies until none waits.
    var threads = 0
    var isClosed = false

    /// Takes the copy that has waited longest. Without any, the caller's thread is to end.
    mutating func next() -> FileCopy? {
      guard waiting.isEmpty else { return waiting.removeFirst() }
      threads -= 1
      return nil
    }
  }

  private let configuration: TransferConfiguration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "FileCopyQueue", attributes: .concurrent)
  private let running = DispatchGroup()

  static let maxConcurrentCopies = 4

  init(configuration: TransferConfiguration) { self.configuration = configuration }

  /// Starts a copy. Returns `false` when the queue is closed.
  func start(_ queued: QueuedTransfer) -> Bool {
    let copy = FileCopy(queued)
    let (isOpen, needsThread) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.copies[queued.id] = copy
      state.waiting.append(copy)
      guard state.threads < Self.maxConcurrentCopies else { return (true, false) }
      state.threads += 1
      running.enter()
      return (true, true)
    }
    if needsThread {
      queue.async { [self] in
        runWaiting()
        running.leave()
      }
    }
    return isOpen
  }

  /// Runs copies until none waits.
  private func runWaiting() {
    while let copy = state.withLock({ $0.next() }) {
      let result = copy.result(configuration)
      _ = state.withLock { $0.copies.removeValue(forKey: copy.queued.id) }
      copy.queued.completion(result)
    }
  }

  /// Cancels a copy; does nothing when it has ended.
  func cancel(_ id: TransferID) { state.withLock { $0.copies[id] }?.cancel() }

  /// Cancels all copies; later ones are not accepted.
  func close() {
    let copies = state.withLock { state in
      state.isClosed = true
      return Array(state.copies.values)
    }
    for copy in copies { copy.cancel() }
  }

  /// Waits until every completion has returned, at most five seconds: a file system that does not answer may keep a read for ever.
  /// Must not be called from a completion.
  func waitUntilFinished() { _ = running.wait(timeout: .now() + 5) }
}

/// A running transfer of a file beneath the file root.
final class FileCopy: Sendable {
  let queued: QueuedTransfer
  private let isCancelled = Atomic(false)

  init(_ queued: QueuedTransfer) { self.queued = queued }

  /// Makes the copy fail with `cancelled` before it reads the next piece.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Copies the file.
  func result(_ configuration: TransferConfiguration) -> Result<TransferOutcome, TransferError> {
    Result { () throws(TransferError) in
      try queued.request.readFile(configuration) { isCancelled.load(ordering: .relaxed) }
    }
  }
}
