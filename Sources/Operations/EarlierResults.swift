import Imaging
import Ledger
import Model
import System

/// What earlier runs of a job delivered for one entry, which need not be made again.
package struct EarlierResults: Sendable {
  package let folder: JobFolder

  /// The files that may be the entry's.
  package let outputs: [LedgerOutput]

  /// Looks at the files; nil to open their folder each time.
  var folders: ResultFolders?

  /// Whether they may stand for what is to be made.
  var mayBeReused = true

  package init(folder: JobFolder, outputs: [LedgerOutput], folders: ResultFolders? = nil, mayBeReused: Bool = true) {
    self.folder = folder
    self.outputs = outputs
    self.folders = folders
    self.mayBeReused = mayBeReused
  }

  /// The paths at which results of an entry, and their sources, may lie: also those of another format, with which the entry is
  /// compared.
  package static func targets(of entry: Entry, withOriginals: Bool = false) -> [String] {
    let suffixes = ImageFormat.allCases.map(\.fileExtension)
    return suffixes.map { JobFolder.path(of: .result, entry.name, extension: $0) }
      + (withOriginals ? suffixes.map { JobFolder.path(of: .original, entry.lineName, extension: $0) } : [])
  }

  /// Whether a source lies where it was delivered, and nobody has changed it since.
  func hasOriginal(_ target: String, sha256: String) -> Bool {
    guard mayBeReused, let output = outputs.first(where: { $0.target == target && $0.sha256 == sha256 }) else {
      return false
    }
    return (try? unchangedIdentity(output)) ?? nil != nil
  }

  /// Whether a file of our user with exactly the bytes of a source lies where that is to be delivered, on disk.
  func hasEqual(_ source: Delivery, _ staging: Staging) throws(SystemError) -> Bool {
    try folder.existingFile(of: source.target, bytes: source.bytes, sha256: source.sha256, known: nil, staging: staging)
      != nil
  }

  /// The entry's result, if it would become the same again and nobody has changed or removed it since.
  ///
  /// A file is taken to be unchanged when inode, size and times are what they were; otherwise its bytes tell.
  /// - Throws: `SystemError`: the result is to be made then.
  /// - Parameter source: The source; nil when it says nothing for later.
  func result(of entry: Entry, as key: ResultKey, from source: PhotoRecord.Source? = nil) throws -> DeliveredResult? {
    for output in outputs where mayBeReused {
      guard var provenance = output.origin.flatMap(Provenance.init(text:)), provenance.key == key.text,
        let identity = try unchangedIdentity(output)
      else { continue }
      let news = source?.news(after: provenance.answer)
      provenance.answer = news ?? provenance.answer
      return DeliveredResult(
        target: output.target, bytes: output.bytes, sha256: output.sha256, picture: provenance.output,
        sourcePicture: provenance.source, newIdentity: identity == output.identity ? nil : identity,
        newOrigin: news == nil ? nil : provenance.text, quality: provenance.quality, metadata: key.metadata,
        derived: derived(provenance, entry.name))
    }
    return nil
  }

  /// The source of the entry's result, if that would become the same again and nobody has changed or removed it since, and it
  /// is known what brought it: then its bytes need not be there.
  /// - Parameter keepsOriginals: Whether the source must lie beside the result, too.
  func source(
    of entry: Entry, by request: CacheKey, metadata: MetadataPolicy, keepsOriginals: Bool
  ) -> CachedSource? {
    for output in outputs where mayBeReused {
      guard let provenance = output.origin.flatMap(Provenance.init(text:)),
        let answer = provenance.answer.flatMap(SourceAnswer.init(text:)), answer.request == request.text
      else { continue }
      let sha256 = String(provenance.sourceSHA256)
      // Another digest is one of bytes that nobody has.
      guard entry.checksum.map({ $0.algorithm == .sha256 && $0.digest == sha256 }) ?? true,
        provenance.key == ResultKey(of: sha256, for: entry, metadata: metadata).text,
        (try? unchangedIdentity(output)) ?? nil != nil
      else { continue }
      let original = JobFolder.path(of: .original, entry.lineName, extension: provenance.source.format.fileExtension)
      guard !keepsOriginals || hasOriginal(original, sha256: sha256) else { continue }
      return answer.source(sha256: sha256)
    }
    return nil
  }

  /// The paths of what was made of a result, where it still is where it was put. A page can do without it: its bytes are not
  /// looked at.
  private func derived(_ provenance: Provenance, _ name: String) -> [Artifact.Kind: String] {
    var paths: [Artifact.Kind: String] = [:]
    for (kind, file) in provenance.derived {
      let target = JobFolder.path(of: kind, name)
      if let found = try? status(of: target), found.kind == .file, found.size == file.bytes { paths[kind] = target }
    }
    return paths
  }

  /// Whether none of the results was made from a source.
  /// - Returns: nil when it is not known from what they were made, or there are none.
  func isChanged(_ sha256: String) -> Bool? {
    let sources = outputs.compactMap { $0.origin.flatMap(Provenance.init(text:))?.sourceSHA256 }
    return sources.isEmpty ? nil : !sources.contains(sha256[...])
  }

  /// What has the final name of a result that was made, as far as it does not keep it from being delivered.
  /// - Throws: `SystemError` when that cannot be told now.
  func existingFile(of result: Delivery, _ staging: Staging) throws(SystemError) -> ExistingFile? {
    try folder.existingFile(
      of: result.target, bytes: result.bytes, sha256: result.sha256,
      known: outputs.first { $0.target == result.target }, staging: staging)
  }

  /// - Returns: nil when the file is not what was delivered.
  private func unchangedIdentity(_ output: LedgerOutput) throws -> String? {
    guard let identity = try? status(of: output.target)?.identity.text else { return nil }
    if identity == output.identity { return identity }
    // Looked at before its bytes are read: a change in between shows the next time.
    return try folder.holds(output.target, bytes: output.bytes, sha256: output.sha256) ? identity : nil
  }

  private func status(of target: String) throws(SystemError) -> FileStatus? {
    if let folders { return try folders.status(of: target, in: folder) }
    return try folder.status(of: target)
  }
}
