import Imaging
import Transfer

/// Where a filtration may find its source, or what it would make of it.
struct ResultAccess: Sendable {
  /// Where the source may be; nil when there is no cache.
  let cache: DownloadCache?

  /// What earlier runs of the job delivered; nil when nothing of it is to be reused.
  let reuse: Reuse?

  /// The other filtrations.
  let shared: SharedFiltrations

  /// A file that another entry's filtration has made, or found.
  struct Original {
    let file: OpenFile
    let picture: ImageInfo
    let bytes: Int
    let sha256: String

    /// Copies it to an empty file. It may have been delivered, and anything may have happened to it since.
    /// - Returns: Whether the copy is what it should be.
    /// - Throws: `SystemError` when there is no room for it.
    func isCopied(to copy: OpenFile) throws -> Bool {
      guard let status = try? file.status(), status.kind == .file, status.size == bytes else { return false }
      do {
        try file.copy(to: copy)
      } catch  where !error.isOutOfSpace {
        return false
      }
      return (try? MessageDigest.hexDigest(ofDescriptor: copy.descriptor)) == sha256
    }
  }

  /// What a filtration has come to; nil when that is nothing.
  func original(of live: PhotoRecord.Live) -> Original? {
    if let made = live.result {
      return Original(file: made.file, picture: made.picture, bytes: made.bytes, sha256: made.sha256)
    }
    guard let reused = live.reused, let path = reuse?.folder.file(reused.target),
      let file = try? OpenFile(reading: path, followingLinks: false)
    else { return nil }
    return Original(file: file, picture: reused.picture, bytes: reused.bytes, sha256: reused.sha256)
  }
}
