/// The number of downloads at once: a fixed number, or one that grows while that makes downloads end faster.
///
/// Counts how many downloads end in a period in which all slots were taken. Then it adds slots, and the next measurement
/// decides: if downloads end faster by a share of the growth, it adds more; if not, it returns to the previous number, and
/// puts the next trial off, each time longer. Failures that many downloads at once may cause lower the number. Times are
/// milliseconds of any clock.
package struct DownloadWindow: Equatable, Sendable {
  /// Downloads at once.
  package private(set) var limit: Int

  /// The initial and lowest number.
  package static let least = 16

  /// The highest number.
  package static let most = 256

  private let range: ClosedRange<Int>

  /// The measurement before the last growth, while that is on trial.
  private var reference: (limit: Int, rate: Double)?

  /// When the next trial may begin, and how long the one after it is put off.
  private var nextTrial = 0
  private var interval = DownloadWindow.shortestInterval
  private var isFirstGrowth = true

  /// The measurement: its beginning, downloads that started before it and are not counted, and the results.
  private var began: Int?
  private var skipped = 0
  private var ended = 0
  private var failed = 0
  private var wasFull = true

  private static let shortestInterval = 10_000
  private static let longestInterval = 60_000

  package init(fixed limit: Int) {
    self.limit = limit
    range = limit...limit
  }

  /// - Parameter most: The number that descriptors and memory allow.
  package init(upTo most: Int) {
    let most = max(1, min(most, Self.most))
    range = min(Self.least, most)...most
    limit = range.lowerBound
  }

  package static func == (a: Self, b: Self) -> Bool { (a.limit, a.range) == (b.limit, b.range) }

  package var isFixed: Bool { range.count == 1 }

  /// Records that entries were started while there was room.
  /// - Parameter isFull: Whether nothing but the number of downloads kept others from starting.
  package mutating func started(isFull: Bool) { wasFull = wasFull && isFull }

  /// Starts a new measurement, e.g. after a pause.
  package mutating func restart() { (began, skipped, ended, failed, wasFull) = (nil, 0, 0, 0, true) }

  /// Records the end of a download.
  /// - Parameters:
  ///   - isFailure: Whether it failed in a way that more downloads at once may cause.
  ///   - isSuspect: Whether the network may be down: then nothing is decided, since it may have caused the failures. Default:
  ///     false.
  package mutating func ended(isFailure: Bool, isSuspect: Bool = false, now: Int) {
    guard !isFixed else { return }
    guard let began else { return began = now }
    let time = now - began
    if skipped > 0 {
      skipped = time < 4000 ? skipped - 1 : 0
      if skipped == 0 { measure(from: now) }
      return
    }
    (ended, failed) = (ended + 1, failed + (isFailure ? 1 : 0))
    let isLong = ended >= max(32, limit) && time >= 250 || ended >= 8 && time >= 4000
    guard isLong, !isSuspect else { return }
    decide(rate: Double(ended) * 1000 / Double(time), now)
    if skipped == 0 { measure(from: now) } else { self.began = now }
  }

  private mutating func measure(from now: Int) { (began, ended, failed, wasFull) = (now, 0, 0, true) }

  private mutating func decide(rate: Double, _ now: Int) {
    if failed >= 3, failed * 10 >= ended {
      set(reference?.limit ?? limit * 3 / 4)
      putOff(now)
    } else if !wasFull {
      reference = nil
    } else if let reference {
      let gain = rate / reference.rate - 1
      if gain * 8 >= Double(limit) / Double(reference.limit) - 1 {
        interval = Self.shortestInterval
        grow(rate)
      } else {
        // A gain is kept; without one the growth is not worth the memory.
        if gain < 0.05 { set(reference.limit) }
        putOff(now)
      }
    } else if now >= nextTrial {
      grow(rate)
    }
  }

  private mutating func grow(_ rate: Double) {
    reference = nil
    guard limit < range.upperBound else { return }
    reference = (limit, rate)
    set(isFirstGrowth ? 2 * limit : limit * 3 / 2)
  }

  private mutating func set(_ limit: Int) {
    // Those that run now started under the old number.
    skipped = self.limit
    self.limit = min(max(limit, range.lowerBound), range.upperBound)
  }

  private mutating func putOff(_ now: Int) {
    reference = nil
    isFirstGrowth = false
    nextTrial = now + interval
    interval = min(2 * interval, Self.longestInterval)
  }
}
