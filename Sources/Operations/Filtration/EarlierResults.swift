import Imaging
import Ledger
import Model
import System

/// The results that earlier runs of a job delivered for one entry, and that may be reused.
package struct EarlierResults: Sendable {
  package let folder: JobFolder

  /// The outputs that may be the entry's.
  package let outputs: [LedgerOutput]

  /// Examines the files; nil to open their folder each time.
  var folders: ResultFolders?

  /// Whether the results may be reused.
  var mayBeReused = true

  package init(folder: JobFolder, outputs: [LedgerOutput], folders: ResultFolders? = nil, mayBeReused: Bool = true) {
    self.folder = folder
    self.outputs = outputs
    self.folders = folders
    self.mayBeReused = mayBeReused
  }

  /// The paths of an entry's results and sources without their extensions, since the entry is also compared with a result
  /// of another format.
  package static func stems(of entry: Entry, withOriginals: Bool = false) -> [String] {
    [JobFolder.path(of: .result, entry.name, extension: "")]
      + (withOriginals ? [JobFolder.path(of: .original, entry.lineName, extension: "")] : [])
  }

  /// Whether an original is where it was delivered, and is unchanged.
  func hasOriginal(_ target: String, sha256: String) -> Bool {
    guard mayBeReused, let output = outputs.first(where: { $0.target == target && $0.sha256 == sha256 }) else {
      return false
    }
    return (try? unchangedIdentity(output)) ?? nil != nil
  }

  /// The path of an entry's original with the bytes of a source, if it is where it was delivered, and unchanged.
  func original(of entry: Entry, sha256: String) -> String? {
    let stem = JobFolder.path(of: .original, entry.lineName, extension: "")
    return outputs.lazy.map(\.target).first { $0.begins(with: stem) && self.hasUntouched($0, sha256: sha256) }
  }

  /// Whether an original has the identity with which it was delivered. Unlike `hasOriginal`, it reads no file.
  private func hasUntouched(_ target: String, sha256: String) -> Bool {
    guard mayBeReused, let output = outputs.first(where: { $0.target == target && $0.sha256 == sha256 }),
      let identity = output.identity
    else { return false }
    return ((try? status(of: target)) ?? nil)?.identity.text == identity
  }

  /// Whether a file of this process's user with exactly the bytes of a source has its target, and is synced.
  func hasEqual(_ source: Delivery, _ staging: Staging) throws(SystemError) -> Bool {
    try folder.existingFile(of: source.target, bytes: source.bytes, sha256: source.sha256, known: nil, staging: staging)
      != nil
  }

  /// The entry's existing result, if making it again would give the same one, and it is unchanged.
  ///
  /// A file counts as unchanged when inode, size and times are the same; otherwise its bytes are compared.
  /// - Parameter source: The source; nil when its answer need not be stored.
  /// - Throws: `SystemError`. The result must then be made.
  func result(of entry: Entry, as key: ResultKey, from source: PhotoRecord.Source? = nil) throws -> DeliveredResult? {
    for output in outputs where mayBeReused {
      guard var provenance = output.origin.flatMap(Provenance.init(text:)), let key = key.key(ofResult: provenance.key),
        let identity = try unchangedIdentity(output)
      else { continue }
      let news = source?.news(after: provenance.answer)
      provenance.answer = news ?? provenance.answer
      return DeliveredResult(
        target: output.target, bytes: output.bytes, sha256: output.sha256, picture: provenance.output,
        sourcePicture: provenance.source, newIdentity: identity == output.identity ? nil : identity,
        newOrigin: news == nil ? nil : provenance.text, quality: provenance.quality, metadata: key.metadata,
        settings: key.settings, derived: derived(provenance, entry.name))
    }
    return nil
  }

  /// The source of the entry's existing result, if making the result again would give the same one, it is unchanged,
  /// and the answer that returned the source is known. The bytes of the source are then not needed.
  /// - Parameter keepsOriginals: Whether the original must exist beside the result.
  func source(
    of entry: Entry, by request: CacheKey, output options: OutputOptions, keepsOriginals: Bool
  ) -> CachedSource? {
    for output in outputs where mayBeReused {
      guard let provenance = output.origin.flatMap(Provenance.init(text:)),
        let answer = provenance.answer.flatMap(SourceAnswer.init(text:)), answer.request == request.text
      else { continue }
      let sha256 = String(provenance.sourceSHA256)
      // A checksum of another algorithm cannot be compared without the bytes.
      guard entry.checksum.map({ $0.algorithm == .sha256 && $0.digest == sha256 }) ?? true,
        ResultKey(of: sha256, for: entry, output: options).key(ofResult: provenance.key) != nil,
        (try? unchangedIdentity(output)) ?? nil != nil
      else { continue }
      let original = JobFolder.path(of: .original, entry.lineName, extension: provenance.source.format.fileExtension)
      guard !keepsOriginals || hasOriginal(original, sha256: sha256) else { continue }
      return answer.source(sha256: sha256)
    }
    return nil
  }

  /// The paths of the existing files made from a result. Only sizes are compared, since pages work without them.
  private func derived(_ provenance: Provenance, _ name: String) -> [Artifact.Kind: String] {
    var paths: [Artifact.Kind: String] = [:]
    for (kind, file) in provenance.derived {
      let target = JobFolder.path(of: kind, name)
      if let found = try? status(of: target), found.kind == .file, found.size == file.bytes { paths[kind] = target }
    }
    return paths
  }

  /// Whether none of the results was made from a source.
  /// - Returns: nil when their sources are unknown, or there are no results.
  func isChanged(_ sha256: String) -> Bool? {
    let sources = outputs.compactMap { $0.origin.flatMap(Provenance.init(text:))?.sourceSHA256 }
    return sources.isEmpty ? nil : !sources.contains(sha256[...])
  }

  /// The file that has the final name of a new result, if it does not prevent the delivery.
  /// - Throws: `SystemError` when the file cannot be examined now.
  func existingFile(of result: Delivery, _ staging: Staging) throws(SystemError) -> ExistingFile? {
    try folder.existingFile(
      of: result.target, bytes: result.bytes, sha256: result.sha256,
      known: outputs.first { $0.target == result.target }, staging: staging)
  }

  /// - Returns: nil when the file has changed.
  private func unchangedIdentity(_ output: LedgerOutput) throws -> String? {
    guard let identity = try? status(of: output.target)?.identity.text else { return nil }
    if identity == output.identity { return identity }
    // The identity is read before the bytes, so that a change in between is found the next time.
    return try folder.holds(output.target, bytes: output.bytes, sha256: output.sha256) ? identity : nil
  }

  private func status(of target: String) throws(SystemError) -> FileStatus? {
    if let folders { return try folders.status(of: target, in: folder) }
    return try folder.status(of: target)
  }
}
