/// Identifies a transfer within its engine, to cancel it.
package struct TransferID: Hashable, Sendable {
  let number: UInt64
}

/// A request that was passed to an engine, with its completion.
struct QueuedTransfer: Sendable {
  let id: TransferID
  let request: TransferRequest
  let completion: @Sendable (Result<TransferOutcome, TransferError>) -> Void

  /// Completes the transfer with `cancelled`.
  func completeCancelled() {
    completion(.failure(.cancelled(request.location)))
  }
}
