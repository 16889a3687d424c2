import Imaging
import Model
import System
import Transfer

/// Results that are copies: of another filtration's result, or of the source.
extension ImageFiltration {
  /// Copies the result of the leader's filtration, or fails with its failure.
  /// - Returns: Whether the leader had a result.
  func copy(_ leader: PhotoRecord, as key: ResultKey, since began: ContinuousClock.Instant) throws -> Bool {
    let live = leader.snapshot
    if let failure = live.failure, failure.code.stage == .filter { throw failure }
    guard let original = ResultAccess.Original(leader), let sourcePicture = live.source?.picture else { return false }
    let file = try staging.create(result)
    guard try original.isCopied(to: file, isCancelled: { isCancelled }) else {
      staging.remove(result)
      return false
    }
    let source = try record.source.flatMap { try self.original($0, sourcePicture.format) }
    try finish(
      file, original.picture, original.sha256, as: Self.key(like: live, key), from: sourcePicture,
      with: [source, makesPreviews ? previews.copy(leader, of: original.picture) : nil], since: began,
      warnings: live.result?.warnings ?? [])
    return true
  }

  /// The key of a copy of the leader's result, which may be that of a damaged source.
  private static func key(like leader: PhotoRecord.Live, _ key: ResultKey) -> ResultKey {
    let damaged = key.ofDamagedSource
    return [leader.result?.key.settings, leader.reused?.settings].contains(damaged.settings) ? damaged : key
  }

  /// The limits of sources that are copied, some of whose damage may be accepted.
  private var copyLimits: ImageLimits {
    var limits = limits
    limits.damaged = output.damaged
    return limits
  }

  /// The key of a copy of a source, which may be damaged.
  private static func key(of copy: LosslessCopy, _ key: ResultKey) -> ResultKey {
    copy.damage?.isAccepted == true ? key.ofDamagedSource : key
  }

  /// Makes the result for recipe `none` and format `keep`: the source's bytes without the metadata that `--metadata`
  /// removes. Only the header is checked.
  func keep(
    _ bytes: [UInt8], of source: PhotoRecord.Source, as key: ResultKey, since began: ContinuousClock.Instant
  ) throws {
    let copy = try decoding.recorded(record, isCancelled: { self.isCancelled }) {
      try LosslessCopy(of: bytes, keeping: output.metadata, limits: copyLimits, isCancelled: { self.isCancelled })
    }
    let copied = try copy.copied(from: bytes)
    let file = try staging.create(result)
    try file.write(copied)
    let sha256 = copy.isWholeFile ? source.sha256 : MessageDigest.hexDigest(of: copied)
    try finish(
      file, copy.copiedInfo, sha256, bytes: copied.count, as: Self.key(of: copy, key), from: copy.info, with: [],
      since: began,
      warnings: ReportRow.Warning.of(copy))
  }

  /// As for a source in memory, of one in a file.
  func keep(_ source: PhotoRecord.Source, as key: ResultKey, since began: ContinuousClock.Instant) throws {
    let file = try files.open(source)
    let copying = SourceCopy(
      files: files, decoding: decoding, metadata: output.metadata, limits: copyLimits, target: result,
      isCancelled: { self.isCancelled })
    let (copy, copied) = try source.isShared ? copying.ofShared(file, source) : copying.ofOwn(file, source)
    let key = Self.key(of: copy, key)
    guard let copied else {
      guard try file.status().size == source.bytes else { throw EntryFailure.changedDownload }
      let original = try self.original(source, copy.info.format, copying: file)
      // File systems without modes refuse this.
      try? file.makePublic()
      return try finish(
        file, copy.copiedInfo, source.sha256, bytes: source.bytes, as: key, from: copy.info, with: [original],
        staged: files.download, since: began, warnings: ReportRow.Warning.of(copy))
    }
    let original = try self.original(source, copy.info.format, copying: file)
    removeDownload(source, nil)
    let sha256 = copy.isWholeFile ? source.sha256 : try MessageDigest.hexDigest(ofDescriptor: copied.descriptor)
    try finish(
      copied, copy.copiedInfo, sha256, as: key, from: copy.info, with: [original], since: began,
      warnings: ReportRow.Warning.of(copy))
  }
}
