/// What can be told of a manifest that cannot be read as one.
extension ManifestFile {
  /// Whether the file may have what only its owner is to read: headers, a body, a form, or user names and passwords in URLs,
  /// by what stands for them in some format. True also when it cannot be unpacked.
  package var mayHoldSecrets: Bool {
    var kept: [UInt8] = []
    var (isBeginning, isBinary) = (true, false)
    do {
      _ = try eachTextChunk(mayBeUTF16: true) { chunk in
        let text = kept + chunk
        if isBeginning { isBinary = text.starts(with: "bplist".utf8) }
        if SecretSigns.occur(in: text, isBeginning: isBeginning, isBinary: isBinary) { throw Found() }
        if text.count > 2 * SecretSigns.context {
          kept = Array(text.suffix(2 * SecretSigns.context))
          isBeginning = false
        } else {
          kept = text
        }
      }
      return false
    } catch {
      return true
    }
  }

  private struct Found: Error {}
}
