/// A request to write one source to one file.
package struct TransferRequest: Sendable {
  /// Where the source is.
  package let location: SourceLocation

  /// Method, header fields and content; ignored for a file. Default: a plain GET.
  package let request: SourceRequest

  /// A descriptor open for writing, of an empty file. The caller owns it, and closes it after completion. When the
  /// transfer fails, part of the body may have been written.
  package let destination: Int32

  /// The expected digest of the source. Default: `nil`, any.
  package let checksum: Checksum?

  /// The validators of an earlier download: while they are valid, nothing is written. Default: `nil`.
  package let validators: Validators?

  /// Creates a request.
  package init(
    location: SourceLocation, request: SourceRequest = .plain, destination: Int32, checksum: Checksum? = nil,
    validators: Validators? = nil
  ) {
    self.location = location
    self.request = request
    self.destination = destination
    self.checksum = checksum
    self.validators = validators
  }
}
