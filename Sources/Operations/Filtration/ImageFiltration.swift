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
  let access: ResultAccess
  let limits: ImageLimits
  let output: OutputOptions
  let decoding: DecodingAccess
  let keepsOriginals: Bool
  let makesPreviews: Bool

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
    guard let key, let source = record.source else { return files.removeDownload() }
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
      _ = try files.checked(source)
    }
    // When the outbox cannot be read, the result is made.
    if let delivered = try? access.earlier.result(of: record.entry, as: key, from: source) {
      try limits.check(delivered.picture, from: delivered.sourcePicture)
      let original = try self.original(source, delivered.sourcePicture.format)
      removeDownload(source, bytes)
      return record.reuse(delivered, delivering: [original].compactMap { $0 }, taking: began.duration(to: .now))
    }
    if key.isCopy {
      if let bytes { return try keep(bytes.bytes, of: source, as: key, since: began) }
      return try keep(source, as: key, since: began)
    }
    if let leader, try copy(leader, as: key, since: began) { return removeDownload(source, bytes) }
    try filter(
      bytes.map { try OpenFile(inMemory: "source", sealed: $0.bytes) } ?? files.checked(source), into: key, since: began
    )
    removeDownload(source, bytes)
  }

  // MARK: New results

  private func filter(_ source: OpenFile, into key: ResultKey, since began: ContinuousClock.Instant) throws {
    var options = output
    (options.format, options.quality) = (record.entry.options.format, record.entry.options.quality)
    let task = DecodingTask(record.entry.recipe, options, limits: limits, makesPreviews: makesPreviews)
    let (pictures, own) = try decoding.recorded(record, isCancelled: { self.isCancelled }) {
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
  func finish(
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

  /// Stages the source for delivery beside the result.
  /// - Parameter whole: A file with the source, which is copied in any case. Default: nil.
  /// - Returns: nil when originals are not kept.
  func original(
    _ source: PhotoRecord.Source, _ format: ImageFormat, copying whole: OpenFile? = nil
  ) throws -> Artifact? {
    guard keepsOriginals else { return nil }
    return try OriginalStaging(files: files, earlier: access.earlier).stage(source, format, copying: whole)
  }

  // MARK: Files

  var files: SourceFiles { SourceFiles(record: record, cache: access.cache) }

  var staging: Staging { record.run.staging }

  /// The name of the result in staging.
  var result: String { staging.file(.result, of: record.entry.position) }

  var previews: PreviewStaging {
    PreviewStaging(staging: staging, position: record.entry.position, name: record.entry.name)
  }

  /// Removes the file of the entry's own download, if there is one.
  func removeDownload(_ source: PhotoRecord.Source, _ bytes: BodyBytes?) {
    if bytes == nil, !source.isCached { files.removeDownload() }
  }
}
