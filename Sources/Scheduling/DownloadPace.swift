/// How fast a download is, as far as that decides whether it keeps its place. Times are milliseconds of any clock.
package struct DownloadPace: Equatable, Sendable {
  /// What is too slow.
  package struct Limit: Equatable, Sendable {
    /// Fewer bytes per second are; 0: none are.
    package let bytesPerSecond: Int

    /// For how long, in milliseconds, at least 1.
    package let period: Int

    package init(bytesPerSecond: Int, period: Int) { (self.bytesPerSecond, self.period) = (bytesPerSecond, period) }
  }

  /// Whether it was too slow for a whole period. Then it remains so.
  package private(set) var isSlow = false

  private var began: Int
  private var bytes = 0

  /// - Parameter began: When the download began.
  package init(began: Int) { self.began = began }

  /// Records how many bytes have come so far. A period ends early when enough have come.
  package mutating func received(_ bytes: Int, now: Int, limit: Limit) {
    guard !isSlow, limit.bytesPerSecond > 0 else { return }
    if bytes - self.bytes >= limit.bytesPerSecond * limit.period / 1000 {
      (began, self.bytes) = (now, bytes)
    } else {
      isSlow = now - began >= limit.period
    }
  }
}

/// The downloads that are too slow (see `DownloadPace`): they leave their places to others and go on beside them.
///
/// When a download has been quick lately, each slow one is its server's affair, and leaves its place. When none has, the
/// network itself may be slow, and more downloads would make all of them slower: then one place more at a time, for a
/// download that is not slow, shows what holds. Times are milliseconds of any clock.
package struct SlowDownloads: Equatable, Sendable {
  /// What is too slow.
  package var limit: DownloadPace.Limit

  package private(set) var count = 0

  private var lastQuick: Int?

  /// A download that takes less than this, in milliseconds, is quick, whatever its size.
  static let quickTime = 2000

  package init(limit: DownloadPace.Limit) { self.limit = limit }

  /// Records that a download is found to be slow.
  package mutating func began() { count += 1 }

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
