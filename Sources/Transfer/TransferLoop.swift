import CCurl

/// The engine's thread: gives transfers to libcurl as their hosts have room, and ends them.
final class TransferLoop {
  private let configuration: TransferConfiguration
  private let mailbox: Mailbox
  private let multi: MultiHandle
  private var gate: HostGate<QueuedTransfer>
  private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
  private var idleHandles: [EasyHandle] = []

  /// How many handles are kept for later transfers.
  private static let maxIdleHandles = 64

  init(configuration: TransferConfiguration, mailbox: Mailbox, multi: MultiHandle) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.multi = multi
    gate = HostGate(limit: configuration.perHost)
  }

  /// Runs until the mailbox is closed; then ends what is left.
  func run() {
    while true {
      let mail = mailbox.collect()
      for transfer in mail.started where gate.enter(host(of: transfer), transfer) { begin(transfer) }
      if mail.isClosed { break }
      if !mail.cancelled.isEmpty { cancel(Set(mail.cancelled)) }
      multi.perform()
      while let (easy, code) = multi.nextFinished() {
        guard let transfer = running[easy] else { continue }
        finish(transfer, transfer.result(code))
      }
      if mailbox.mayFallAsleep() { multi.poll() }
    }
    for transfer in gate.withdraw(where: { _ in true }) { transfer.completeCancelled() }
    for transfer in Array(running.values) { finish(transfer, cancelled(transfer)) }
  }

  private func begin(_ queued: QueuedTransfer) {
    let transfer = HTTPTransfer(queued, easy: idleHandles.popLast() ?? EasyHandle(), configuration: configuration)
    running[transfer.easy.raw] = transfer
    guard let refusal = transfer.easy.refusal ?? (multi.add(transfer.easy) ? nil : "libcurl does not take a handle")
    else {
      return
    }
    finish(transfer, .failure(TransferError(.network, refusal)))
  }

  private func cancel(_ ids: Set<TransferID>) {
    for transfer in gate.withdraw(where: { ids.contains($0.id) }) { transfer.completeCancelled() }
    for transfer in Array(running.values) where ids.contains(transfer.queued.id) {
      finish(transfer, cancelled(transfer))
    }
  }

  private func finish(_ transfer: HTTPTransfer, _ result: Result<TransferOutcome, TransferError>) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    // A handle whose transfer failed is not used again: after a name that could not be resolved, libcurl 7.88 refuses
    // CURLOPT_BUFFERSIZE even on a handle that was reset.
    if case .success = result, idleHandles.count < Self.maxIdleHandles {
      transfer.easy.reset()
      idleHandles.append(transfer.easy)
    }
    if let next = gate.leave(host(of: transfer.queued)) { begin(next) }
    transfer.queued.completion(result)
  }

  private func cancelled(_ transfer: HTTPTransfer) -> Result<TransferOutcome, TransferError> {
    .failure(.cancelled(transfer.queued.request.location))
  }

  private func host(of transfer: QueuedTransfer) -> String { transfer.request.location.host ?? "" }
}
