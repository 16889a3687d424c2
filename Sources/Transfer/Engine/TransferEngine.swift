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
    var thread: NativeThread?
    var isStopped = false
  }

  private let state = Mutex(State())
  private let mailbox: Mailbox<TransferOrder>
  private let files: FileCopyQueue

  /// Checks and reads the files of forms. Internal for tests, which suspend it as a slow disk would.
  let formReads = OperationQueue()
  private let configuration: TransferConfiguration
  private let lookUp: NameResolver.LookUp

  /// Starts the engine; its thread starts with the first URL. Ends the program when the system has no descriptor left.
  package convenience init(configuration: TransferConfiguration) {
    self.init(configuration: configuration, lookUp: { NameLookup(system: $0) })
  }

  /// - Parameter lookUp: Looks host names up, on dedicated threads.
  init(configuration: TransferConfiguration, lookUp: @escaping NameResolver.LookUp) {
    // Before there are threads.
    ProcessLocale.setUTF8
    // Without it no transfer could be started.
    guard let mailbox = try? Mailbox<TransferOrder>() else { fatalError("no descriptor is left for the engine") }
    self.mailbox = mailbox
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
    formReads.addOperation { [configuration, mailbox, formReads] in
      completion(
        Result { () throws(TransferError) in
          try FormFiles(of: request, configuration) { id, read in
            formReads.addOperation {
              read()
              mailbox.post(.fileRead(id))
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
  /// - Parameter completion: Called exactly once, on a thread of the engine; on the caller's after `shutdown`, and when the system
  ///   has no thread for the engine. It must return quickly, because other transfers wait for it. It may start and cancel
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
    let isFile = request.location.scheme == .file
    if !isFile, let failure = startThread() {
      completion(.failure(failure))
    } else if !(isFile ? files.start(queued) : mailbox.post(.start(queued))) {
      queued.completeCancelled()
    }
    return queued.id
  }

  /// Starts the engine's thread if there is none, and libcurl on it.
  /// - Returns: The error when the system has no thread left.
  private func startThread() -> TransferError? {
    state.withLock { state in
      guard state.thread == nil, !state.isStopped else { return nil }
      state.thread = NativeThread { [configuration, mailbox, lookUp] in
        TransferLoop(configuration: configuration, mailbox: mailbox, multi: MultiHandle(), lookUp: lookUp).run()
      }
      let why = errno
      return state.thread == nil
        ? TransferError(.io, "cannot start a thread for transfers: \(systemMessage(why))", systemError: why) : nil
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
    if state.withLock({ $0.thread != nil }) { mailbox.post(order) }
  }

  /// Cancels all transfers, waits until each has completed, and ends the engine's thread. Later transfers complete at
  /// once with `cancelled`. Must not be called from a completion.
  package func shutdown() {
    files.close()
    stopThread()
    files.waitUntilFinished()
  }

  private func stopThread() {
    mailbox.close()
    let thread = state.withLock { state in
      defer { (state.thread, state.isStopped) = (nil, true) }
      return state.thread
    }
    thread?.join()
  }
}
