import Imaging
import Ledger
import Transfer

/// Finds results of earlier runs of a job that need not be made again.
struct Reuse: Sendable {
  let folder: JobFolder
  let ledger: Ledger

  /// The result of an entry, if it would become the same again and nobody has changed or removed it since.
  ///
  /// A file is taken to be unchanged when inode, size and times are what they were; otherwise its bytes tell.
  /// - Throws: `SystemError`, `SQLiteError`, `TransferError`: the result is to be made then.
  func result(of entry: Entry, as product: Product) throws -> DeliveredResult? {
    let formats = entry.options.format.map { [$0] } ?? ImageFormat.allCases
    for format in formats {
      let target = JobFolder.image(entry.name, extension: format.fileExtension)
      guard let output = try ledger.output(job: folder.name, target: target),
        let origin = output.origin.flatMap(Origin.init(text:)), origin.product == product.text,
        let identity = try unchangedIdentity(target, output)
      else { continue }
      return DeliveredResult(
        target: target, bytes: output.bytes, sha256: output.sha256, picture: origin.output,
        sourcePicture: origin.source, newIdentity: identity == output.identity ? nil : identity)
    }
    return nil
  }

  /// - Returns: nil when the file is not what was delivered.
  private func unchangedIdentity(_ target: String, _ output: LedgerOutput) throws -> String? {
    let path = folder.file(target)
    guard let identity = try? FileStatus(of: path).identity.text else { return nil }
    if identity == output.identity { return identity }
    // Looked at before its bytes are read: a change in between shows the next time.
    return try Placement.holds(path, bytes: output.bytes, sha256: output.sha256) ? identity : nil
  }
}
