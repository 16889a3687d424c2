import System

extension TransferConfiguration {
  /// Checks a location without network access: whether its file, or the files of its request, may and can be read and are small
  /// enough, and whether the policy allows the address that the URL contains.
  /// - Returns: The error of a later transfer; `nil` when the checks pass, though the host's name may still not resolve, or
  ///   resolve to refused addresses.
  package func preflightFailure(of location: SourceLocation, _ request: SourceRequest = .plain) -> TransferError? {
    do throws(TransferError) {
      if location.scheme == .file {
        _ = try openFile(location)
      } else {
        try checkAddress(location)
        for file in request.files { _ = try openFile(ofForm: file) }
      }
      return nil
    } catch {
      return error
    }
  }

  /// Opens a file beneath the file root.
  /// - Throws: `scheme-not-allowed` without a file root, `too-large`, and what `FileRoot.open` throws.
  private func openFile(
    _ location: SourceLocation, notIn refused: [String] = []
  ) throws(TransferError) -> FileRoot.Opened {
    guard let fileRoot else { throw TransferError(.schemeNotAllowed, location.fileNotAllowed) }
    let file = try FileRoot(path: fileRoot).open(location, notIn: refused)
    guard file.size <= maxBytes else {
      throw TransferError(
        .tooLarge, "--max-bytes is \(ByteCount(maxBytes)); \(location.redacted) has more: \(ByteCount(file.size))")
    }
    return file
  }

  /// Opens a file that is sent as a part of a form.
  /// - Throws: As `openFile`, and `address-not-allowed` for a file in one of `privateFolders`.
  func openFile(ofForm location: SourceLocation) throws(TransferError) -> FileRoot.Opened {
    try openFile(location, notIn: privateFolders)
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
