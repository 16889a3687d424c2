import Foundation
import Imaging
import Transfer

/// The second operation of an entry: its source decoded, filtered and encoded into a file in staging. It depends on the
/// entry's download, and occupies one processor.
final class ImageFiltration: Operation, @unchecked Sendable {  // what changes is in the record
  let record: PhotoRecord
  private let staging: Staging
  private let cache: DownloadCache?
  private let limits: ImageLimits
  private let metadata: MetadataPolicy

  /// - Parameter cache: Where the source may have come from.
  init(
    _ record: PhotoRecord, staging: Staging, cache: DownloadCache?, limits: ImageLimits, metadata: MetadataPolicy
  ) {
    self.record = record
    self.staging = staging
    self.cache = cache
    self.limits = limits
    self.metadata = metadata
    super.init()
    name = "filter \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  override func main() {
    // A finished dependency may have failed or been cancelled.
    guard record.state == .downloaded else { return staging.remove(staging.download(record.entry.position)) }
    let began = ContinuousClock.now
    let entry = record.entry
    do {
      let download = try OpenFile(reading: staging.path(staging.download(entry.position)))
      if entry.recipe.isEmpty, entry.options.format == nil {
        try keepSource(download, since: began)
      } else {
        try checkShared(download)
        try filter(download, since: began)
        staging.remove(staging.download(entry.position))
      }
    } catch {
      staging.remove(staging.download(entry.position))
      staging.remove(staging.result(entry.position))
      switch error {
      case let failure as EntryFailure: record.fail(failure)
      case let error as ImagingError where error.code == .cancelled: record.cancel()
      case let error as ImagingError: record.fail(EntryFailure(error))
      case let error as SystemError: record.fail(EntryFailure(error))
      case let error as TransferError: record.fail(EntryFailure(error))
      default: record.fail(EntryFailure(stage: .filter, code: "filter-failed", message: "\(error)"))
      }
    }
  }

  private func filter(_ download: OpenFile, since began: ContinuousClock.Instant) throws {
    let staged = staging.result(record.entry.position)
    let file = try staging.create(staged)
    var options = record.entry.options
    options.metadata = metadata
    let pass = ImagePass(recipe: record.entry.recipe, options: options, limits: limits)
    let pictures = try pass.run(from: download.descriptor, to: file.descriptor, isCancelled: { self.isCancelled })
    let result = PhotoRecord.Result(
      staged: staged, file: file, picture: pictures.output, bytes: try file.status().size,
      sha256: try MessageDigest.hexDigest(ofDescriptor: file.descriptor))
    record.filtered(result, from: pictures.source, taking: began.duration(to: .now))
  }

  /// Recipe `none`, format `keep`: the source's bytes are the result, once its header has been checked.
  private func keepSource(_ download: OpenFile, since began: ContinuousClock.Instant) throws {
    guard let source = record.snapshot.source else { return }
    var (staged, file) = (staging.download(record.entry.position), download)
    // What the cache or another entry gave is not delivered itself: whoever changes the one would change the other. What
    // was downloaded for this entry is; the cache finds out when somebody has changed it.
    if source.isCached || source.isCoalesced {
      staged = staging.result(record.entry.position)
      file = try staging.create(staged)
      try download.copy(to: file)
      try checkShared(file)
      staging.remove(staging.download(record.entry.position))
    }
    let picture = try ImageInfo.probe(file.descriptor, limits: limits)
    let result = PhotoRecord.Result(
      staged: staged, file: file, picture: picture, bytes: source.bytes, sha256: source.sha256)
    record.filtered(result, from: picture, taking: began.duration(to: .now))
  }

  /// What comes from the cache or from another entry was checked when it was downloaded; since then anything may have
  /// happened to it.
  private func checkShared(_ file: OpenFile) throws {
    guard let source = record.snapshot.source, source.isCached || source.isCoalesced else { return }
    guard (try? MessageDigest.hexDigest(ofDescriptor: file.descriptor)) == source.sha256 else {
      cache?.drop(source.sha256)
      throw EntryFailure.cache
    }
    try record.entry.checksum?.check(file.descriptor, of: SourceLocation.redacted(record.entry.url))
  }
}
