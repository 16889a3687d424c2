import Foundation
import Imaging
import Model
import Synchronization
import System
import Transfer

/// The second operation of an entry: decodes, filters and encodes its source to a file in staging. Depends on the
/// entry's download, and occupies one processor.
final class ImageFiltration: Operation, @unchecked Sendable {  // what changes is in the record and in a Mutex
  let record: PhotoRecord
  private let access: ResultAccess
  private let limits: ImageLimits
  private let output: OutputOptions
  private let decoding: DecodingAccess
  private let keepsOriginals: Bool
  private let makesPreviews: Bool

  private struct Shared {
    /// The result that other filtrations copy from this one.
    var led: ResultKey?
    /// The entry whose filtration makes the same result, and ends before this one begins.
    var leader: PhotoRecord?
  }

  private let shared = Mutex(Shared())

  /// - Parameters:
  ///   - output: What entries do not say themselves, all but format and quality.
  ///   - keepsOriginals: Whether the source is delivered as well. Default: false.
  ///   - makesPreviews: Whether a large result gets a preview. Default: false.
  init(
    _ record: PhotoRecord, access: ResultAccess, decoding: DecodingAccess, limits: ImageLimits,
    output: OutputOptions,
    keepsOriginals: Bool = false, makesPreviews: Bool = false
  ) {
    self.keepsOriginals = keepsOriginals
    self.makesPreviews = makesPreviews
    self.record = record
    self.decoding = decoding
    self.access = access
    self.limits = limits
    self.output = output
    super.init()
    name = "filter \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  /// The key of the result; nil until the source is known.
  var key: ResultKey? {
    let live = record.snapshot
    guard live.state == .downloaded, let source = live.source else { return nil }
    return ResultKey(of: source.sha256, for: record.entry, output: output)
  }

  /// Makes other filtrations with the same result begin after this one.
  func lead(_ key: ResultKey) { shared.withLock { $0.led = key } }

  /// Makes the filtration begin after another one with the same result, and copy that. The other one gets at least the
  /// priority of this one, which otherwise would wait for operations of lower priority.
  func follow(_ leader: ImageFiltration) {
    shared.withLock { $0.leader = leader.record }
    if leader.queuePriority.rawValue < queuePriority.rawValue { leader.queuePriority = queuePriority }
    addDependency(leader)
  }

  override func main() {
    // Foundation retains dependencies, with their records and files, as long as this operation.
    for dependency in dependencies { removeDependency(dependency) }
    let (led, leader) = shared.withLock { shared in
      defer { shared = Shared() }
      return (shared.led, shared.leader)
    }
    defer { if let led { access.shared.end(led) } }
    let bytes = record.takeBytes()
    // A finished dependency may have failed or been cancelled.
    guard let key, let source = record.source else { return staging.remove(download) }
    record.beginFiltration()
    do {
      try make(key, of: source, bytes, after: leader)
    } catch {
      staging.removeFiles(of: record.entry.position)
      if Self.isCancellation(error) { return record.cancel() }
      record.fail(EntryFailure(error, otherwise: .filter(.filterFailed)))
    }
  }

  /// Whether reading a picture, or copying a file, was cancelled.
  private static func isCancellation(_ error: any Error) -> Bool {
    (error as? ImagingError)?.code == .cancelled || (error as? SystemError)?.code == ECANCELED
  }

  /// Gets the result in the cheapest way: reuses or copies an existing one, copies the source, or makes it.
  /// - Parameter bytes: The source; nil when it is in a file.
  private func make(
    _ key: ResultKey, of source: PhotoRecord.Source, _ bytes: BodyBytes?, after leader: PhotoRecord?
  ) throws {
    let began = ContinuousClock.now
    // A source that this entry downloaded was compared with the checksum during the transfer.
    if bytes == nil, source.isShared, !source.isOfResult, record.entry.checksum != nil {
      try check(open(source), source)
    }
    // When the outbox cannot be read, the result is made.
    if let delivered = try? access.earlier.result(of: record.entry, as: key, from: source) {
      let picture = delivered.sourcePicture
      try limits.checkMinimum(width: picture.width, height: picture.height)
      let original = try self.original(source, picture.format)
      removeDownload(source, bytes)
      return record.reuse(delivered, delivering: [original].compactMap { $0 }, taking: began.duration(to: .now))
    }
    if key.isCopy {
      if let bytes { return try keep(bytes.bytes, of: source, as: key, since: began) }
      return try keep(source, as: key, since: began)
    }
    if let leader, try copy(leader, as: key, since: began) { return removeDownload(source, bytes) }
    try filter(
      bytes.map { try OpenFile(inMemory: "source", sealed: $0.bytes) } ?? checked(source), into: key, since: began)
    removeDownload(source, bytes)
  }

  // MARK: Existing results

  /// Copies the result of the leader's filtration, or fails with its failure.
  /// - Returns: Whether the leader had a result.
  private func copy(_ leader: PhotoRecord, as key: ResultKey, since began: ContinuousClock.Instant) throws -> Bool {
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

  /// Makes the result for recipe `none` and format `keep`: the source's bytes without the metadata that `--metadata`
  /// removes. Only the header is checked.
  private func keep(
    _ bytes: [UInt8], of source: PhotoRecord.Source, as key: ResultKey, since began: ContinuousClock.Instant
  ) throws {
    let copy = try recorded {
      try LosslessCopy(of: bytes, keeping: output.metadata, limits: limits, isCancelled: { self.isCancelled })
    }
    let copied = try copy.copied(from: bytes)
    let file = try staging.create(result)
    try file.write(copied)
    let sha256 = copy.isWholeFile ? source.sha256 : MessageDigest.hexDigest(of: copied)
    try finish(
      file, copy.copiedInfo, sha256, bytes: copied.count, as: key, from: copy.info, with: [], since: began,
      warnings: ReportRow.Warning.of(copy))
  }

  /// As for a source in memory, of one in a file.
  private func keep(_ source: PhotoRecord.Source, as key: ResultKey, since began: ContinuousClock.Instant) throws {
    let file = try open(source)
    let (copy, copied) = try source.isShared ? sharedCopy(of: file, source) : ownCopy(of: file, source)
    guard let copied else {
      guard try file.status().size == source.bytes else { throw EntryFailure.changedDownload }
      let original = try self.original(source, copy.info.format, copying: file)
      // File systems without modes refuse this.
      try? file.makePublic()
      return try finish(
        file, copy.copiedInfo, source.sha256, bytes: source.bytes, as: key, from: copy.info, with: [original],
        staged: download, since: began, warnings: ReportRow.Warning.of(copy))
    }
    let original = try self.original(source, copy.info.format, copying: file)
    removeDownload(source, nil)
    let sha256 = copy.isWholeFile ? source.sha256 : try MessageDigest.hexDigest(ofDescriptor: copied.descriptor)
    try finish(
      copied, copy.copiedInfo, sha256, as: key, from: copy.info, with: [original], since: began,
      warnings: ReportRow.Warning.of(copy))
  }

  /// Copies the source that this entry downloaded. The file is nil when the download itself becomes the result. If the
  /// cache has a link to it, the cache's check finds later changes.
  private func ownCopy(of file: OpenFile, _ source: PhotoRecord.Source) throws -> (LosslessCopy, OpenFile?) {
    let copy = try losslessCopy(of: file, size: source.bytes)
    return (copy, copy.isWholeFile ? nil : try write(copy, of: file))
  }

  /// Copies a source that the cache or another entry shares. The result is never a link to the shared file, since a
  /// change to one would change the other. The source (or the copy, if it contains the whole file) is compared with its
  /// digest, and the file must not change from reading its layout until then.
  private func sharedCopy(of file: OpenFile, _ source: PhotoRecord.Source) throws -> (LosslessCopy, OpenFile?) {
    let before = try file.status().identity
    let copy: LosslessCopy
    let copied: OpenFile
    do {
      copy = try losslessCopy(of: file, size: before.size)
      copied = try write(copy, of: file)
    } catch {
      // It may fail because the file was changed: that is checked first.
      if !isCancelled { try check(file, source) }
      throw error
    }
    try check(copy.isWholeFile ? copied : file, source)
    let after = try file.status().identity
    guard before.size == after.size, before.modified == after.modified else { throw changed(source) }
    return (copy, copied)
  }

  /// Reads the layout of the file in this process, since no library of its format parses it, and a worker would take longer.
  private func losslessCopy(of file: OpenFile, size: Int) throws -> LosslessCopy {
    try recorded {
      try LosslessCopy(
        of: file.descriptor, size: Int64(size), keeping: output.metadata, limits: limits,
        isCancelled: { self.isCancelled })
    }
  }

  private func write(_ copy: LosslessCopy, of file: OpenFile) throws -> OpenFile {
    let target = try staging.create(result)
    if copy.isWholeFile {
      try file.copy(to: target, isCancelled: { isCancelled })
      return target
    }
    for part in copy.parts {
      if isCancelled { throw ImagingError.cancelled }
      switch part {
      case .range(let range):
        try file.copy(Int(range.lowerBound)..<Int(range.upperBound), to: target, isCancelled: { isCancelled })
      case .bytes(let bytes): try bytes.withUnsafeBytes { try target.write($0) }
      case .zeros(let count): try writeZeros(count, to: target)
      }
    }
    return target
  }

  private func writeZeros(_ count: Int, to target: OpenFile) throws {
    let zeros = [UInt8](repeating: 0, count: min(count, 64 << 10))
    for start in stride(from: 0, to: count, by: zeros.count) {
      if isCancelled { throw ImagingError.cancelled }
      try zeros.withUnsafeBytes { try target.write(UnsafeRawBufferPointer(rebasing: $0.prefix(count - start))) }
    }
  }

  // MARK: New results

  private func filter(_ source: OpenFile, into key: ResultKey, since began: ContinuousClock.Instant) throws {
    var options = output
    (options.format, options.quality) = (record.entry.options.format, record.entry.options.quality)
    let task = DecodingTask(record.entry.recipe, options, limits: limits, makesPreviews: makesPreviews)
    let (pictures, own) = try recorded {
      try decoding.pool.perform(
        task, from: source,
        subject: DecodingPool.Subject(job: record.run.job, entry: record.entry.shownName, owner: record.run.owner),
        isCancelled: { self.isCancelled }
      ) {
        try staging.create(result)
      }
    }
    let file = try own ?? finishedResult()
    guard try ImageFormat.sniffed(from: file.readStart(16)) == pictures.output.format else {
      throw ImagingError(code: .decoderCrashed, message: "what the decoder wrote is no \(pictures.output.format)")
    }
    let sha256 = try MessageDigest.hexDigest(ofDescriptor: file.descriptor)
    let original = try record.source.flatMap { try self.original($0, pictures.source.format) }
    let warnings = pictures.damage.map { [ReportRow.Warning($0)] } ?? []
    let isAccepted = pictures.damage?.isAccepted == true
    try finish(
      file, pictures.output, sha256, as: isAccepted ? key.ofDamagedSource : key, from: pictures.source,
      with: [original, pictures.preview.flatMap { previews.stage($0, of: pictures.output) }], since: began,
      warnings: warnings)
  }

  /// Reads a picture, while the journal records that the entry is being filtered.
  private func recorded<Result>(_ read: () throws -> Result) throws -> Result {
    let slot = try decoding.journal?.enter(
      FiltrationJournal.Key(runID: record.run.runID, position: record.entry.position),
      isCancelled: { self.isCancelled })
    var hasEnded = true
    defer { if let slot { decoding.journal?.leave(slot, hasEnded: hasEnded) } }
    do {
      return try read()
    } catch let error as ImagingError where error.code == .cancelled {
      hasEnded = false
      throw error
    }
  }

  /// Opens the file that a worker has written. If the worker may still have it open for writing (it may be
  /// compromised), the result is a copy, which it cannot change.
  private func finishedResult() throws -> OpenFile {
    let file = try staging.open(result)
    if file.hasNoWriter { return file }
    let copy = try staging.create(result)
    try file.copy(to: copy, isCancelled: { isCancelled })
    return copy
  }

  /// - Parameters:
  ///   - bytes: The size of the file. Default: nil, not known.
  ///   - others: The files that are delivered with the result.
  private func finish(
    _ file: OpenFile, _ picture: ImageInfo, _ sha256: String, bytes: Int? = nil, as key: ResultKey,
    from source: ImageInfo, with others: [Artifact?], staged: String? = nil, since began: ContinuousClock.Instant,
    warnings: [ReportRow.Warning]
  ) throws {
    // Shortens the sync in the delivery.
    file.startWriting()
    let made = PhotoRecord.Result(
      picture: picture, key: key, quality: picture.format.isLossy(file.descriptor) ? key.quality : nil,
      warnings: warnings)
    var artifact = Artifact(
      .result, file, staged: staged ?? result,
      target: JobFolder.path(of: .result, record.entry.name, extension: picture.format.fileExtension),
      bytes: try bytes ?? file.status().size, sha256: sha256)
    // Large files may have to be read here, so that the delivery does not wait. The delivery repeats what fails.
    if record.run.mayFindFiles {
      artifact.existingFile = try? access.earlier.existingFile(of: artifact.delivery, staging)
    }
    let isChanged = record.source.flatMap { access.earlier.isChanged($0.sha256) }
    record.filtered(
      made, from: source, delivering: others.compactMap { $0 } + [artifact], isChanged: isChanged,
      taking: began.duration(to: .now))
  }

  /// Stages the source for delivery beside the result: the file that this entry downloaded, or a copy of a shared one.
  /// - Parameters:
  ///   - format: The source's format.
  ///   - whole: A file with the source, which is copied in any case. Default: nil.
  /// - Returns: nil when originals are not kept.
  private func original(
    _ source: PhotoRecord.Source, _ format: ImageFormat, copying whole: OpenFile? = nil
  ) throws -> Artifact? {
    guard keepsOriginals else { return nil }
    let target = JobFolder.path(of: .original, record.entry.lineName, extension: format.fileExtension)
    let name = staging.file(.original, of: record.entry.position)
    var original = Artifact(
      .original, nil, staged: name, target: target, bytes: source.bytes, sha256: source.sha256)
    let early = record.original
    original.isPlaced = early?.isDelivered == true || access.earlier.hasOriginal(target, sha256: source.sha256)
    // Another variant may have delivered it. Variants that are filtered at the same time stage the same file each.
    if !original.isPlaced, record.entry.variant != nil {
      original.isPlaced = (try? access.earlier.hasEqual(original.delivery, staging)) == true
    }
    if original.isPlaced {
      if early == nil { record.staged(EarlyOriginal(original.delivery, isDelivered: true)) }
      return original
    }
    let file: OpenFile
    if source.isShared || whole != nil {
      file = try staging.create(name)
      try (whole ?? open(source)).copy(to: file)
      try check(file, source)
    } else {
      let folder = try staging.open()
      try folder.rename(download, to: folder, as: name)
      file = try staging.open(name)
      try? file.makePublic()
    }
    file.startWriting()
    original.file = file
    return original
  }

  // MARK: Files

  private var staging: Staging { record.run.staging }

  private var previews: PreviewStaging {
    PreviewStaging(staging: staging, position: record.entry.position, name: record.entry.name)
  }

  private var download: String { staging.download(record.entry.position) }
  private var result: String { staging.file(.result, of: record.entry.position) }

  private func open(_ source: PhotoRecord.Source) throws -> OpenFile {
    guard source.isCached else { return try staging.open(download) }
    if let file = access.cache?.open(source.sha256) { return file }
    throw changed(source)
  }

  private func checked(_ source: PhotoRecord.Source) throws -> OpenFile {
    let file = try open(source)
    try check(file, source)
    return file
  }

  /// Removes the file of the download, if there is one.
  private func removeDownload(_ source: PhotoRecord.Source, _ bytes: BodyBytes?) {
    if bytes == nil, !source.isCached { staging.remove(download) }
  }

  /// Checks the bytes of a shared source, which may have changed since they were downloaded.
  private func check(_ file: OpenFile, _ source: PhotoRecord.Source) throws {
    guard source.isShared else { return }
    guard (try? MessageDigest.hexDigest(ofDescriptor: file.descriptor)) == source.sha256 else { throw changed(source) }
    try record.entry.checksum?.check(file.descriptor, of: SourceLocation.redacted(record.url))
  }

  /// The failure for a source that has changed. It is downloaded again.
  private func changed(_ source: PhotoRecord.Source) -> EntryFailure {
    access.cache?.drop(source.sha256)
    return .cache
  }
}

extension ReportRow.Warning {
  /// The warnings about a copy.
  fileprivate static func of(_ copy: LosslessCopy) -> [Self] {
    var warnings: [Self] = []
    if copy.mayKeepMetadata {
      warnings.append(
        Self(
          code: .metadataUnreadable,
          message: "metadata may still be in the copy: it is where pixels are, or cannot be told from them"))
    } else if copy.hasUnreadableMetadata {
      warnings.append(
        Self(
          code: .metadataUnreadable, message: "metadata of the picture cannot be read, and is not in the copy"))
    }
    if let error = copy.decodingError {
      warnings.append(
        Self(code: .visibleDamage, message: "the pixels of the copy may be wrong: with a filter \(error.message)"))
    } else if let damage = copy.damage {
      warnings.append(Self(damage))
    }
    return warnings
  }

  fileprivate init(_ damage: PictureDamage) {
    switch damage.kind {
    case .harmless: self.init(code: .harmlessDamage, message: "no pixel depends on it: \(damage.text)")
    case .visible:
      self.init(code: .visibleDamage, message: "the colours or the orientation may be wrong: \(damage.text)")
    case .pixels: self.init(code: .pixelDamage, message: "pixels are missing or wrong \(damage.text)")
    }
  }
}
