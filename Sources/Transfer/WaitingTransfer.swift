/// What waits for its turn at a host's gate.
enum WaitingTransfer {
  /// A transfer that has not begun.
  case new(QueuedTransfer)
  /// A transfer that another host has sent here.
  case redirected(HTTPTransfer)

  var queued: QueuedTransfer {
    switch self {
    case .new(let queued): queued
    case .redirected(let transfer): transfer.queued
    }
  }
}
