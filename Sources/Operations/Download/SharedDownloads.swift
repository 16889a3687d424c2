import Model
import Synchronization
import Transfer

/// The downloads in progress by request. The first one for a request downloads, the others wait for its result.
final class SharedDownloads: Sendable {
  /// Identifies downloads of which one is enough.
  struct Key: Hashable, Sendable {
    let request: CacheKey
    let checksum: Checksum?

    /// As `CacheAccess.isRefreshing`: a download that asks for the whole source cannot use one that is only confirmed.
    let isRefreshing: Bool
  }

  private struct Group {
    let leader: PhotoRecord.ID
    var waiting: [ImageDownloader] = []
  }

  private let groups = Mutex<[Key: Group]>([:])

  /// The number of downloads that wait for others.
  var waitingCount: Int { groups.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

  /// - Returns: nil when the download is the first and must be done; otherwise the record of the first, which calls it
  ///   when it ends.
  func leader(_ key: Key, _ download: ImageDownloader) -> PhotoRecord.ID? {
    groups.withLock { groups in
      guard let leader = groups[key]?.leader else {
        groups[key] = Group(leader: download.record.id)
        return nil
      }
      groups[key]?.waiting.append(download)
      return leader
    }
  }

  /// Records that the first download of a request has ended.
  /// - Returns: The downloads that waited for it. The next one is a first one again.
  func end(_ key: Key) -> [ImageDownloader] {
    groups.withLock { $0.removeValue(forKey: key)?.waiting ?? [] }
  }

  /// - Returns: Whether the download was waiting and is removed.
  func withdraw(_ download: ImageDownloader, from key: Key) -> Bool {
    groups.withLock { groups in
      guard let index = groups[key]?.waiting.firstIndex(where: { $0 === download }) else { return false }
      groups[key]?.waiting.remove(at: index)
      return true
    }
  }
}
