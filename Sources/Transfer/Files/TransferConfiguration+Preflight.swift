extension TransferConfiguration {
  /// Checks a location without network access: whether its file may and can be read and is small enough, and whether the
  /// policy allows the address that the URL contains.
  /// - Returns: The error that a transfer would end with; `nil` when the checks pass, though the host's name may still not
  ///   resolve, or resolve to addresses that are refused.
  package func preflightFailure(of location: SourceLocation) -> TransferError? {
    do throws(TransferError) {
      if location.scheme == .file { try checkFile(location) } else { try checkAddress(location) }
      return nil
    } catch {
      return error
    }
  }

  private func checkFile(_ location: SourceLocation) throws(TransferError) {
    guard let fileRoot else {
      throw TransferError(.schemeNotAllowed, "\(location.redacted) is a file; only --file-root allows to read files")
    }
    let size = try FileRoot(path: fileRoot).open(location).size
    guard size <= maxBytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(location.redacted) has \(size)")
    }
  }

  private func checkAddress(_ location: SourceLocation) throws(TransferError) {
    guard let address = location.literalAddress else { return }
    // The name localhost has two addresses; one of them allowed suffices.
    let isName = location.host?.contains("localhost") == true
    guard let reason = addressPolicy.refusal(of: [address] + (isName ? [.v6(1)] : [])) else { return }
    throw TransferError(.addressNotAllowed, "\(location.redacted): \(reason)")
  }
}
