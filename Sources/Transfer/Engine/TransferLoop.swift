import CCurl
import System

/// What other threads want of the engine's thread.
enum TransferOrder: Sendable {
  case start(QueuedTransfer)
  case cancel(TransferID)
}

/// The loop of the engine's thread: hands transfers to libcurl as their hosts have free slots, and completes them.
final class TransferLoop {
  private let configuration: TransferConfiguration
  private let mailbox: Mailbox<TransferOrder>
  private let multi: MultiHandle
  private var gate: HostGate<WaitingTransfer>
  private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

  init(configuration: TransferConfiguration, mailbox: Mailbox<TransferOrder>, multi: MultiHandle) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.multi = multi
    gate = HostGate(limit: configuration.perHost)
  }

  /// What waits for a slot of a host.
  private enum WaitingTransfer {
    /// A transfer that has not begun.
    case new(QueuedTransfer)
    /// A transfer that another host has redirected here.
    case redirected(HTTPTransfer)

    var queued: QueuedTransfer {
      switch self {
      case .new(let queued): queued
      case .redirected(let transfer): transfer.queued
      }
    }
  }

  /// Runs until the mailbox is closed; then cancels all transfers.
  func run() {
    while true {
      let isClosed = mailbox.isClosed
      var cancelled: Set<TransferID> = []
      for order in mailbox.collect() {
        switch order {
        case .start(let transfer): admit(transfer)
        case .cancel(let id): cancelled.insert(id)
        }
      }
      if isClosed { break }
      if !cancelled.isEmpty { cancel(cancelled) }
      multi.perform()
      while let (easy, code) = multi.nextFinished() {
        guard let transfer = running[easy] else { continue }
        switch transfer.step(after: code) {
        case .ended(let result): finish(transfer, result)
        case .nextRequest: submitNext(transfer)
        }
      }
      mailbox.wait(by: multi.poll)
    }
    for waiting in gate.removeWaiting(where: { _ in true }) { waiting.queued.completeCancelled() }
    for transfer in Array(running.values) { finish(transfer, cancelled(transfer)) }
  }

  private func admit(_ queued: QueuedTransfer) {
    let host = queued.request.location.host ?? ""
    guard gate.acquire(host, .new(queued)) else { return }
    if !start(queued) { release(host) }
  }

  /// Starts a transfer that has a slot. Returns whether it still needs it; otherwise it has completed.
  private func start(_ queued: QueuedTransfer) -> Bool {
    // A handle is used for one transfer only: libcurl 7.88 refuses CURLOPT_BUFFERSIZE on some that were used and reset.
    let transfer: HTTPTransfer
    do throws(TransferError) {
      transfer = try HTTPTransfer(
        queued, easy: EasyHandle(), configuration: configuration, openConnections: multi.openConnections)
    } catch {
      queued.completion(.failure(error))
      return false
    }
    return submit(transfer)
  }

  /// Hands a request to libcurl. Returns whether it was accepted; otherwise the transfer has completed.
  private func submit(_ transfer: HTTPTransfer) -> Bool {
    if multi.add(transfer.easy) {
      running[transfer.easy.raw] = transfer
      return true
    }
    transfer.queued.completion(.failure(TransferError(.network, "libcurl does not take a handle")))
    return false
  }

  /// Submits a transfer's next request, as soon as its host has a free slot.
  private func submitNext(_ transfer: HTTPTransfer) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    let host = transfer.location.host ?? ""
    if host != transfer.slotHost {
      release(transfer.slotHost)
      transfer.slotHost = host
      guard gate.acquire(host, .redirected(transfer)) else { return }
    }
    if !submit(transfer) { release(host) }
  }

  /// Releases a slot of a host, and starts the next transfer that needs it.
  private func release(_ host: String) {
    while let next = gate.release(host) {
      switch next {
      case .new(let queued): if start(queued) { return }
      case .redirected(let transfer): if submit(transfer) { return }
      }
    }
  }

  private func cancel(_ ids: Set<TransferID>) {
    for waiting in gate.removeWaiting(where: { ids.contains($0.queued.id) }) { waiting.queued.completeCancelled() }
    for transfer in Array(running.values) where ids.contains(transfer.queued.id) {
      finish(transfer, cancelled(transfer))
    }
  }

  private func finish(_ transfer: HTTPTransfer, _ result: Result<TransferOutcome, TransferError>) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    release(transfer.slotHost)
    transfer.queued.completion(result)
  }

  private func cancelled(_ transfer: HTTPTransfer) -> Result<TransferOutcome, TransferError> {
    .failure(.cancelled(transfer.queued.request.location))
  }
}
