/// How fast a download is, as far as that decides whether it keeps its place. Times are milliseconds of any clock.
package struct DownloadPace: Equatable, Sendable {
  /// What is too slow.
  package struct Limit: Equatable, Sendable {
    /// Fewer bytes per second are; 0: none are.
    package let bytesPerSecond: Int

    /// For how long, in milliseconds, at least 1.
    package let period: Int

    package init(bytesPerSecond: Int, period: Int) { (self.bytesPerSecond, self.period) = (bytesPerSecond, period) }

    /// The bytes of a period.
    var bytes: Int { bytesPerSecond * period / 1000 }
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
    if bytes - self.bytes >= limit.bytes {
      (began, self.bytes) = (now, bytes)
    } else {
      isSlow = now - began >= limit.period
    }
  }
}
