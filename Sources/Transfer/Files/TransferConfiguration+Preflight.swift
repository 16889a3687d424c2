import System

extension TransferConfiguration {
  /// Checks a location without network access: whether its file may and can be read and is small enough, and whether the
  /// policy allows the address that the URL contains.
  /// - Returns: The error of a later transfer; `nil` when the checks pass, though the host's name may still not resolve, or
  ///   resolve to refused addresses.
  package func preflightFailure(of location: SourceLocation) -> TransferError? {
    do throws(TransferError) {
      if location.scheme == .file { try checkFile(location) } else { try checkAddress(location) }
      return nil
    } catch {
      return error
    }
  }

  private func checkFile(_ location: SourceLocation) throws(TransferError) {
    guard let fileRoot else { throw TransferError(.schemeNotAllowed, location.fileNotAllowed) }
    let size = try FileRoot(path: fileRoot).open(location).size
    guard size <= maxBytes else {
      throw TransferError(
        .tooLarge, "--max-bytes is \(ByteCount(maxBytes)); \(location.redacted) has more: \(ByteCount(size))")
    }
  }

  private func checkAddress(_ location: SourceLocation) throws(TransferError) {
    guard let address = location.literalAddress else { return }
    // The name localhost has two addresses; one of them allowed suffices.
    let isLocal = location.isLocalName
    let addresses = [address] + (isLocal ? [.v6(1)] : [])
    guard let reason = addressPolicy.refusal(of: addresses, isLocal: isLocal) else { return }
    throw TransferError(.addressNotAllowed, "\(location.redacted): \(reason)")
  }
}
