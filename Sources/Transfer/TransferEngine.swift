import Synchronization

/// Downloads: any number of transfers, one thread, libcurl's multi interface.
///
/// Connections, TLS sessions and DNS answers are shared by all transfers. The thread sleeps while nothing happens.
package final class TransferEngine: Sendable {
  private struct State {
    var lastNumber: UInt64 = 0
    var thread: EngineThread?
  }

  private let state: Mutex<State>
  private let mailbox: Mailbox
  private let files: FileCopyQueue

  /// Starts the engine's thread.
  package init(configuration: TransferConfiguration) {
    let multi = MultiHandle()
    let mailbox = Mailbox(wake: multi.wake)
    self.mailbox = mailbox
    files = FileCopyQueue(configuration: configuration)
    let thread = EngineThread {
      TransferLoop(configuration: configuration, mailbox: mailbox, multi: multi).run()
    }
    state = Mutex(State(thread: thread))
  }

  /// Cancels what is left. Waits for the engine's thread, unless the last reference was released on it.
  deinit {
    files.close()
    stopThread()
  }

  /// Starts a transfer, as soon as its host has room.
  /// - Parameter completion: Called exactly once, on a thread of the engine, or, after `shutdown`, on the caller's. It
  ///   must be quick: other transfers wait for it. It may start and cancel transfers.
  /// - Returns: What to cancel the transfer by.
  @discardableResult
  package func start(
    _ request: TransferRequest,
    completion: @escaping @Sendable (Result<TransferOutcome, TransferError>) -> Void
  ) -> TransferID {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let queued = QueuedTransfer(id: TransferID(number: number), request: request, completion: completion)
    let accepted = request.location.scheme == .file ? files.start(queued) : mailbox.post(queued)
    if !accepted { queued.completeCancelled() }
    return queued.id
  }

  /// Makes a transfer complete with `cancelled`, unless it has completed or is just about to.
  package func cancel(_ id: TransferID) {
    files.cancel(id)
    mailbox.cancel(id)
  }

  /// Cancels all transfers, waits until each has completed, and ends the engine's thread. Later transfers complete at
  /// once with `cancelled`. Not to be called from a completion.
  package func shutdown() {
    files.close()
    stopThread()
    files.waitUntilFinished()
  }

  private func stopThread() {
    mailbox.close()
    let thread = state.withLock { state in
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
  }
}
