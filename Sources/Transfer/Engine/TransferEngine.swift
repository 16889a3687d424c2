import Foundation
import Glibc
import Synchronization
import System

/// Runs any number of transfers on one thread, with libcurl's multi interface.
///
/// All transfers share connections, TLS sessions and results of name lookups. The thread sleeps while nothing happens.
package final class TransferEngine: Sendable {
  private struct State {
    var lastNumber: UInt64 = 0
    /// The engine's thread and the orders for it. `nil` until the first URL, and after the end.
    var loop: (thread: NativeThread, mailbox: Mailbox<TransferOrder>)?
    var isStopped = false
  }

  private let state = Mutex(State())
  private let files: FileCopyQueue

  /// Checks and reads the files of forms. Internal for tests, which suspend it as a slow disk would.
  let formReads = OperationQueue()
  private let configuration: TransferConfiguration
  private let lookUp: NameResolver.LookUp

  /// Makes an engine, whose thread starts with the first URL.
  package convenience init(configuration: TransferConfiguration) {
    self.init(configuration: configuration, lookUp: { NameLookup(system: $0) })
  }

  /// - Parameter lookUp: Looks host names up, on dedicated threads.
  init(configuration: TransferConfiguration, lookUp: @escaping NameResolver.LookUp) {
    // Before there are threads.
    ProcessLocale.setUTF8
    self.configuration = configuration
    self.lookUp = lookUp
    files = FileCopyQueue(configuration: configuration)
    formReads.maxConcurrentOperationCount = FileCopyQueue.maxConcurrentCopies
  }

  /// Cancels all transfers. Waits for the engine's thread, unless the last reference was released on it.
  deinit {
    files.close()
    stopThread()
  }

  /// Checks the files of a request's form, for its transfer.
  /// - Parameter completion: Called on a thread for files, however long the disk takes. The errors are those of a transfer of a
  ///   file.
  package func checkFiles(
    of request: SourceRequest, completion: @escaping @Sendable (Result<FormFiles, TransferError>) -> Void
  ) {
    let order: @Sendable (TransferOrder) -> Void = { [weak self] in self?.order($0) }
    formReads.addOperation { [configuration, formReads] in
      completion(
        Result { () throws(TransferError) in
          try FormFiles(of: request, configuration) { id, read in
            formReads.addOperation {
              read()
              order(.fileRead(id))
            }
          }
        })
    }
  }

  /// The time limit of a transfer.
  package func timeLimit(_ settings: HostSettings) -> Duration {
    let timeout = settings.timeout ?? configuration.timeout
    return settings.timeLeft.map { min($0, timeout) } ?? timeout
  }

  /// Starts a transfer, as soon as its host has a free slot.
  /// - Parameter completion: Called exactly once, on a thread of the engine; on the caller's after `shutdown`, and when the
  ///   system has no thread or descriptor for the engine. It must return quickly, because other transfers wait for it. It may start and cancel
  ///   transfers.
  /// - Returns: The identifier for cancelling the transfer.
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
    do throws(SystemError) {
      let isStarted =
        request.location.scheme == .file
        ? files.start(queued) : try mailboxOfLoop()?.post(.start(queued)) == true
      if !isStarted { queued.completeCancelled() }
    } catch {
      completion(.failure(.exhausted(error.code, "cannot start the engine", request.location)))
    }
    return queued.id
  }

  /// The mailbox of the engine's thread, which is started if there is none, and libcurl on it. `nil` after the end.
  /// - Throws: `SystemError` when the system has no descriptor or thread left.
  private func mailboxOfLoop() throws(SystemError) -> Mailbox<TransferOrder>? {
    try state.withLock { state throws(SystemError) in
      if let loop = state.loop { return loop.mailbox }
      guard !state.isStopped else { return nil }
      let mailbox = try Mailbox<TransferOrder>()
      let thread = try NativeThread("the thread of downloads") { [configuration, lookUp] in
        TransferLoop(configuration: configuration, mailbox: mailbox, multi: MultiHandle(), lookUp: lookUp).run()
      }
      state.loop = (thread, mailbox)
      return mailbox
    }
  }

  /// Reads a file on the caller's thread, with the limits and digests of any transfer, however long the disk takes.
  /// - Parameter isCancelled: Asked before each piece is read.
  package func read(
    _ request: TransferRequest, isCancelled: () -> Bool
  ) throws(TransferError) -> TransferOutcome {
    try request.readFile(configuration, isCancelled: isCancelled)
  }

  /// Completes a transfer with `cancelled`, unless it has completed or is about to.
  package func cancel(_ id: TransferID) {
    files.cancel(id)
    order(.cancel(id))
  }

  /// Keeps a transfer that is too slow from occupying a slot of its host, unless the limit for hosts is fixed.
  package func leaveSlot(_ id: TransferID) { order(.leaveSlot(id)) }

  /// Gives an order to the engine's thread, if there is one: without it no transfer is the thread's.
  private func order(_ order: TransferOrder) {
    state.withLock { $0.loop?.mailbox }?.post(order)
  }

  /// Cancels all transfers, waits until each has completed, and ends the engine's thread. Later transfers complete at
  /// once with `cancelled`. Must not be called from a completion.
  package func shutdown() {
    files.close()
    stopThread()
    files.waitUntilFinished()
  }

  private func stopThread() {
    let loop = state.withLock { state in
      defer { (state.loop, state.isStopped) = (nil, true) }
      return state.loop
    }
    loop?.mailbox.close()
    loop?.thread.join()
  }
}
