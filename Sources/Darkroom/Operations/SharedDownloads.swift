import Synchronization
import Transfer

/// Which downloads of the same request are under way: the first leads, the others wait for what it brings.
final class SharedDownloads: Sendable {
  /// What two downloads have in common when one of them is enough.
  struct Key: Hashable, Sendable {
    let request: CacheKey
    let checksum: Checksum?
  }

  private let waiting = Mutex<[Key: [ImageDownloader]]>([:])

  /// How many downloads wait for others.
  var waitingCount: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  /// - Returns: Whether the download is the first, and so the one that is to be done. If not, whoever leads tells it.
  func lead(_ key: Key, _ download: ImageDownloader) -> Bool {
    waiting.withLock { waiting in
      if waiting[key] == nil {
        waiting[key] = []
        return true
      }
      waiting[key]?.append(download)
      return false
    }
  }

  /// The leader has ended.
  /// - Returns: Those that have waited for it. Whoever comes now leads.
  func end(_ key: Key) -> [ImageDownloader] {
    waiting.withLock { $0.removeValue(forKey: key) ?? [] }
  }

  /// - Returns: Whether the download has waited, and does not any more.
  func withdraw(_ download: ImageDownloader, from key: Key) -> Bool {
    waiting.withLock { waiting in
      guard let place = waiting[key]?.firstIndex(where: { $0 === download }) else { return false }
      waiting[key]?.remove(at: place)
      return true
    }
  }
}
