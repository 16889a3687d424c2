/// The pace of a download, which decides whether it keeps its slot. Times are milliseconds of any clock.
package struct DownloadPace: Equatable, Sendable {
  /// The limit below which a download is too slow.
  package struct Limit: Equatable, Sendable {
    /// Fewer bytes per second are too slow; 0: no limit.
    package let bytesPerSecond: Int

    /// The length of a period, in milliseconds, at least 1.
    package let period: Int

    package init(bytesPerSecond: Int, period: Int) { (self.bytesPerSecond, self.period) = (bytesPerSecond, period) }
  }

  /// Whether it was too slow for a whole period. It stays so.
  package private(set) var isSlow = false

  private var began: Int
  private var bytes = 0

  /// - Parameter began: When the download began.
  package init(began: Int) { self.began = began }

  /// Records the bytes received so far. A period ends early when enough have arrived.
  package mutating func received(_ bytes: Int, now: Int, limit: Limit) {
    guard !isSlow, limit.bytesPerSecond > 0 else { return }
    if bytes - self.bytes >= limit.bytesPerSecond * limit.period / 1000 {
      (began, self.bytes) = (now, bytes)
    } else {
      isSlow = now - began >= limit.period
    }
  }
}

/// The downloads that are too slow (see `DownloadPace`): they give up their slots to others and go on beside them.
///
/// When a download has been quick lately, a slow one is slow because of its server, and gives up its slot. When none has, the
/// network itself may be slow, and more downloads would make all of them slower: then one more slot at a time, for a
/// download that is not slow, shows which it is. Times are milliseconds of any clock.
package struct SlowDownloads: Equatable, Sendable {
  /// The limit below which a download is too slow.
  package var limit: DownloadPace.Limit

  package private(set) var count = 0

  private var lastQuick: Int?

  /// A download that takes less than this, in milliseconds, is quick, whatever its size.
  static let quickTime = 2000

  package init(limit: DownloadPace.Limit) { self.limit = limit }

  /// Records that a download has become slow.
  package mutating func began() { count += 1 }

  package mutating func ended() { count -= 1 }

  /// Records that a download has succeeded.
  package mutating func succeeded(bytes: Int, milliseconds: Int, now: Int) {
    let isQuick = milliseconds < Self.quickTime || bytes * 1000 >= limit.bytesPerSecond * milliseconds
    if isQuick { lastQuick = now }
  }

  /// The number of downloads that may run beside the slots: at most as many as there are slots.
  package func beside(slots: Int, now: Int) -> Int {
    let isQuick = lastQuick.map { now - $0 < limit.period } == true
    return min(isQuick ? count : max(0, count + 1 - slots), slots)
  }
}
