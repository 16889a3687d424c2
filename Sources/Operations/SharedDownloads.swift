import Model
import Synchronization
import Transfer

/// Which downloads of the same request are under way: the first leads, the others wait for what it brings.
final class SharedDownloads: Sendable {
  /// What two downloads have in common when one of them is enough.
  struct Key: Hashable, Sendable {
    let request: CacheKey
    let checksum: Checksum?
  }

  private struct Group {
    let leader: PhotoRecord.ID
    var waiting: [ImageDownloader] = []
  }

  private let groups = Mutex<[Key: Group]>([:])

  /// How many downloads wait for others.
  var waitingCount: Int { groups.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

  /// - Returns: nil when the download is the first, and so the one that is to be done; else the record of the first, which
  ///   tells it when it ends.
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

  /// The leader has ended.
  /// - Returns: Those that have waited for it. Whoever comes now leads.
  func end(_ key: Key) -> [ImageDownloader] {
    groups.withLock { $0.removeValue(forKey: key)?.waiting ?? [] }
  }

  /// - Returns: Whether the download has waited, and does not any more.
  func withdraw(_ download: ImageDownloader, from key: Key) -> Bool {
    groups.withLock { groups in
      guard let place = groups[key]?.waiting.firstIndex(where: { $0 === download }) else { return false }
      groups[key]?.waiting.remove(at: place)
      return true
    }
  }
}
