/// One source to be written to one file.
package struct TransferRequest: Sendable {
  /// Where the bytes come from.
  package let location: SourceLocation

  /// How a server is asked for them; for a file it means nothing. Default: a plain GET.
  package let request: SourceRequest

  /// A descriptor open for writing, of an empty file. The caller owns it, and closes it after completion. When the
  /// transfer fails, part of the body may have been written.
  package let destination: Int32

  /// The digest that the bytes must have. Default: `nil`, any.
  package let checksum: Checksum?

  /// What the source had when it was downloaded before: when it still has, nothing is written. Default: `nil`.
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
