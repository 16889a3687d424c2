extension TransferConfiguration {
  /// What a transfer from a place would fail with, as far as it can be told without a network: a file that may not or
  /// cannot be read or is too large, an address that the URL spells out and that the policy refuses.
  /// - Returns: nil when nothing speaks against it; names may still not resolve, or to addresses that are refused.
  package func foreseenFailure(of location: SourceLocation) -> TransferError? {
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
    // The name localhost has two addresses; one that is allowed is enough.
    let isName = location.host?.contains("localhost") == true
    if isName, let other = IPAddress("::1"), addressPolicy.verdict(for: other) == .allowed { return }
    guard case .refused(let reason) = addressPolicy.verdict(for: address) else { return }
    throw TransferError(.addressNotAllowed, "\(location.redacted): \(reason)")
  }
}
