/// A started request with whom to tell.
struct QueuedTransfer: Sendable {
  let id: TransferID
  let request: TransferRequest
  let completion: @Sendable (Result<TransferOutcome, TransferError>) -> Void

  /// Ends the transfer without having begun it.
  func completeCancelled() {
    completion(.failure(.cancelled(request.location)))
  }
}

extension TransferError {
  /// The error of a transfer that was cancelled.
  static func cancelled(_ location: SourceLocation) -> TransferError {
    TransferError(.cancelled, "\(location.redacted) was cancelled")
  }
}
