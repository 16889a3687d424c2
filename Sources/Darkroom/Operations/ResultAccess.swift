import Imaging

/// Where a filtration may find its source, or what it would make of it.
struct ResultAccess: Sendable {
  /// Where the source may be; nil when there is no cache.
  let cache: DownloadCache?

  /// What earlier runs of the job delivered; nil when nothing of it is to be reused.
  let reuse: Reuse?

  /// The other filtrations.
  let shared: SharedFiltrations

  /// What another entry's filtration has made, or found; nil when that is nothing.
  func original(of live: PhotoRecord.Live) -> (file: OpenFile, picture: ImageInfo, sha256: String)? {
    if let result = live.result { return (result.file, result.picture, result.sha256) }
    guard let reused = live.reused, let path = reuse?.folder.file(reused.target),
      let file = try? OpenFile(reading: path, followingLinks: false)
    else { return nil }
    return (file, reused.picture, reused.sha256)
  }
}
