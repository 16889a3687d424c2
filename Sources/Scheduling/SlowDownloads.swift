/// The downloads that are too slow (see `DownloadPace`): they leave their places to others and go on beside them.
///
/// When a download has been quick lately, each slow one is its server's affair, and leaves its place. When none has, the
/// network itself may be slow, and more downloads would make all of them slower: then one place more at a time, for a
/// download that is not slow, shows what holds. Times are milliseconds of any clock.
package struct SlowDownloads: Equatable, Sendable {
  /// What is too slow.
  package var limit: DownloadPace.Limit

  /// How many downloads are slow.
  package private(set) var count = 0

  private var lastQuick: Int?

  /// A download that takes less than this, in milliseconds, is quick, whatever its size.
  static let quickTime = 2000

  package init(limit: DownloadPace.Limit) { self.limit = limit }

  /// Records that a download is found to be slow.
  package mutating func began() { count += 1 }

  /// Records that a slow download has ended.
  package mutating func ended() { count -= 1 }

  /// Records that a download has succeeded.
  package mutating func succeeded(bytes: Int, milliseconds: Int, now: Int) {
    let isQuick = milliseconds < Self.quickTime || bytes * 1000 >= limit.bytesPerSecond * milliseconds
    if isQuick { lastQuick = now }
  }

  /// How many downloads may run beside the places: at most as many as there are places.
  package func beside(places: Int, now: Int) -> Int {
    let isQuick = lastQuick.map { now - $0 < limit.period } == true
    return min(isQuick ? count : max(0, count + 1 - places), places)
  }
}
