/// A request to transfer one source.
package struct TransferRequest: Sendable {
  package let location: SourceLocation

  /// Method, header fields and content; ignored for a file. Default: a plain GET.
  package let request: SourceRequest

  /// The files of its form. Default: none.
  package let files: FormFiles

  /// Where the body is written to; empty, or with the content of `partial`. After a failure, it may contain part of the body;
  /// after a success, its outcome must be `settled`, unless it was given a file.
  /// `nil` for a file that is only read.
  package let destination: BodyStore?

  /// The expected digest of the source. Default: `nil`, any.
  package let checksum: Checksum?

  /// The validators of an earlier download: while they are valid, nothing is written. Default: `nil`.
  package let validators: Validators?

  /// The scope of this request's validators, in place of the URL that returned them, when no redirect was followed. Default:
  /// `nil`, the URL.
  package let validatorScope: String?

  /// The differences from the engine's configuration; ignored for a file. Default: none.
  package let settings: HostSettings

  /// Called once on the engine's thread when the first line of the first answer has arrived, redirects and errors included;
  /// not for a file. It must return quickly. Default: `nil`.
  package let answered: (@Sendable () -> Void)?

  /// Counts the received bytes, except those of a file. Default: `nil`.
  package let progress: TransferProgress?

  /// The beginning of `destination`, which need not be sent again if the server still has the same body, and the part that
  /// is kept if the transfer breaks off; ignored for a file. Default: `nil`, the file is empty, and nothing is kept.
  package let partial: PartialBody?

  package init(
    location: SourceLocation, request: SourceRequest = .plain, files: FormFiles = FormFiles(), destination: BodyStore?,
    checksum: Checksum? = nil, validators: Validators? = nil, validatorScope: String? = nil,
    settings: HostSettings = HostSettings(), progress: TransferProgress? = nil, partial: PartialBody? = nil,
    answered: (@Sendable () -> Void)? = nil
  ) {
    self.partial = partial
    self.location = location
    self.request = request
    self.files = files
    self.destination = destination
    self.checksum = checksum
    self.validators = validators
    self.validatorScope = validatorScope
    self.settings = settings
    self.progress = progress
    self.answered = answered
  }
}

/// Identifies a transfer within its engine, to cancel it.
package struct TransferID: Hashable, Sendable {
  let number: UInt64
}

/// A request in an engine, with its completion.
struct QueuedTransfer: Sendable {
  let id: TransferID
  let request: TransferRequest
  let completion: @Sendable (Result<TransferOutcome, TransferError>) -> Void

  /// Completes the transfer with `cancelled`.
  func completeCancelled() { completion(.failure(.cancelled(request.location))) }
}
