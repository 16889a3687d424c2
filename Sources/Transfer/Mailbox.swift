import Synchronization

/// What other threads want of the engine's thread.
final class Mailbox: Sendable {
  /// What has been posted since the last look.
  struct Mail: Sendable {
    var started: [QueuedTransfer] = []
    var cancelled: [TransferID] = []
    var isClosed = false

    var isEmpty: Bool { started.isEmpty && cancelled.isEmpty && !isClosed }
  }

  private struct State {
    var mail = Mail()
    var isReaderAsleep = false
  }

  private let state = Mutex(State())
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Ends the reader's sleep; called only when it is asleep or about to be.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// Posts a transfer. Returns `false` when the mailbox is closed: then nobody will look.
  func post(_ transfer: QueuedTransfer) -> Bool {
    post { mail in
      guard !mail.isClosed else { return false }
      mail.started.append(transfer)
      return true
    }
  }

  /// Posts that a transfer is to be cancelled.
  func cancel(_ id: TransferID) {
    _ = post { mail in
      mail.cancelled.append(id)
      return true
    }
  }

  /// Tells the reader to end.
  func close() {
    _ = post { mail in
      mail.isClosed = true
      return true
    }
  }

  /// Takes what has been posted; a closed mailbox stays closed.
  func collect() -> Mail {
    state.withLock { state in
      state.isReaderAsleep = false
      let mail = state.mail
      state.mail = Mail(isClosed: mail.isClosed)
      return mail
    }
  }

  /// Tells whether the reader may sleep; if so, the next post will wake it.
  func mayFallAsleep() -> Bool {
    state.withLock { state in
      state.isReaderAsleep = state.mail.isEmpty
      return state.isReaderAsleep
    }
  }

  private func post(_ change: (inout Mail) -> Bool) -> Bool {
    let (accepted, mustWake) = state.withLock { state in
      let accepted = change(&state.mail)
      let mustWake = accepted && state.isReaderAsleep
      if mustWake { state.isReaderAsleep = false }
      return (accepted, mustWake)
    }
    if mustWake { wake() }
    return accepted
  }
}
