import Model
import System
import Transfer

/// The source of an entry as a file: in staging when the entry has downloaded it, otherwise in the cache, which shares it.
struct SourceFiles {
  let record: PhotoRecord

  /// nil when there is no cache.
  let cache: DownloadCache?

  private var staging: Staging { record.run.staging }

  /// The name of the entry's own download in staging.
  var download: String { staging.download(record.entry.position) }

  func open(_ source: PhotoRecord.Source) throws -> OpenFile {
    guard source.isCached else { return try staging.open(download) }
    if let file = cache?.open(source.sha256) { return file }
    throw changed(source)
  }

  /// Opens a source, and checks its bytes if it is shared.
  func checked(_ source: PhotoRecord.Source) throws -> OpenFile {
    let file = try open(source)
    try check(file, source)
    return file
  }

  /// Checks the bytes of a shared source, which may have changed since they were downloaded.
  func check(_ file: OpenFile, _ source: PhotoRecord.Source) throws {
    guard source.isShared else { return }
    guard (try? MessageDigest.hexDigest(ofDescriptor: file.descriptor)) == source.sha256 else { throw changed(source) }
    try checkSum(file)
  }

  /// Compares a file with the checksum that the manifest gives, if it gives one.
  func checkSum(_ file: OpenFile) throws {
    try record.entry.checksum?.check(file.descriptor, of: SourceLocation.redacted(record.url))
  }

  /// The failure for a source that has changed. It is downloaded again.
  func changed(_ source: PhotoRecord.Source) -> EntryFailure {
    cache?.drop(source.sha256)
    return .cache
  }

  /// Removes the file of the entry's own download.
  func removeDownload() { staging.remove(download) }
}
