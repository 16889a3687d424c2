import CCurl

/// The engine's thread: gives transfers to libcurl as their hosts have room, and ends them.
final class TransferLoop {
  private let configuration: TransferConfiguration
  private let mailbox: Mailbox
  private let multi: MultiHandle
  private var gate: HostGate<WaitingTransfer>
  private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
  private let open = OpenConnections()

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
      for transfer in mail.started { take(transfer) }
      if mail.isClosed { break }
      if !mail.cancelled.isEmpty { cancel(Set(mail.cancelled)) }
      multi.perform()
      while let (easy, code) = multi.nextFinished() {
        guard let transfer = running[easy] else { continue }
        switch transfer.step(after: code) {
        case .ended(let result): finish(transfer, result)
        case .asksAgain: move(transfer)
        }
      }
      if mailbox.mayFallAsleep() { multi.poll() }
    }
    for waiting in gate.withdraw(where: { _ in true }) { waiting.queued.completeCancelled() }
    for transfer in Array(running.values) { finish(transfer, cancelled(transfer)) }
  }

  private func take(_ queued: QueuedTransfer) {
    let host = queued.request.location.host ?? ""
    guard gate.enter(host, .new(queued)) else { return }
    if !begin(queued) { leave(host) }
  }

  /// Begins a transfer that has a place. Returns whether it still needs it; otherwise it has completed.
  private func begin(_ queued: QueuedTransfer) -> Bool {
    // A handle is used for one transfer only: libcurl 7.88 refuses CURLOPT_BUFFERSIZE on some that were used and reset.
    let transfer = HTTPTransfer(queued, easy: EasyHandle(), configuration: configuration, open: open)
    guard let failure = transfer.failure else { return launch(transfer) }
    queued.completion(.failure(failure))
    return false
  }

  /// Gives a request to libcurl. Returns whether it was taken; otherwise the transfer has completed.
  private func launch(_ transfer: HTTPTransfer) -> Bool {
    if multi.add(transfer.easy) {
      running[transfer.easy.raw] = transfer
      return true
    }
    transfer.queued.completion(.failure(TransferError(.network, "libcurl does not take a handle")))
    return false
  }

  /// Goes on with a transfer where it was sent to, as soon as there is room.
  private func move(_ transfer: HTTPTransfer) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    let host = transfer.location.host ?? ""
    if host != transfer.seat {
      leave(transfer.seat)
      transfer.seat = host
      guard gate.enter(host, .redirected(transfer)) else { return }
    }
    if !launch(transfer) { leave(host) }
  }

  /// Gives up a place at a host, to whoever is next and needs it.
  private func leave(_ host: String) {
    while let next = gate.leave(host) {
      switch next {
      case .new(let queued): if begin(queued) { return }
      case .redirected(let transfer): if launch(transfer) { return }
      }
    }
  }

  private func cancel(_ ids: Set<TransferID>) {
    for waiting in gate.withdraw(where: { ids.contains($0.queued.id) }) { waiting.queued.completeCancelled() }
    for transfer in Array(running.values) where ids.contains(transfer.queued.id) {
      finish(transfer, cancelled(transfer))
    }
  }

  private func finish(_ transfer: HTTPTransfer, _ result: Result<TransferOutcome, TransferError>) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    leave(transfer.seat)
    transfer.queued.completion(result)
  }

  private func cancelled(_ transfer: HTTPTransfer) -> Result<TransferOutcome, TransferError> {
    .failure(.cancelled(transfer.queued.request.location))
  }
}
