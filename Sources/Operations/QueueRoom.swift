import Model
import Scheduling

/// How many operations run at once, and which entries are admitted to the queues. Times are milliseconds of any clock.
package struct QueueRoom {
  /// How many downloads run at once, except those that are silent or slow.
  package var window: DownloadWindow

  /// The downloads that are too slow, and what is too slow.
  package internal(set) var slow: SlowDownloads

  /// Whether operations run one by one, regardless of the limits.
  var isOneByOne = false

  /// How many downloads and filtrations may run, unless operations run one by one.
  package internal(set) var limits: (downloads: Int, filtrations: Int)

  /// How many downloads do nothing but wait for hosts that do not answer.
  private var silent = 0
  private let descriptors: Int
  private var occupancy = Array(repeating: AdmissionWindow.Occupancy(), count: Entry.Priority.allCases.count)
  private var nextPaceTime = 0

  /// - Parameter descriptors: How many descriptors the process may have.
  init(window: DownloadWindow, filtrations: Int, slow: DownloadPace.Limit, descriptors: Int) {
    (self.window, self.slow, self.descriptors) = (window, SlowDownloads(limit: slow), descriptors)
    limits = (window.limit, filtrations)
  }

  /// Updates the limit of downloads. Others run beside the silent ones, unless their number is fixed.
  /// - Parameter silent: How many are silent. Default: as many as before.
  /// - Returns: Whether the limit has changed.
  @discardableResult
  mutating func update(silent: Int? = nil, now: Int) -> Bool {
    if let silent { self.silent = window.isFixed ? 0 : min(silent, max(0, DownloadWindow.most - window.limit)) }
    let last = limits.downloads
    limits.downloads =
      window.limit + self.silent + (slow.count > 0 ? slow.beside(places: window.limit, now: now) : 0)
    return limits.downloads != last
  }

  /// When downloads are to be checked for slow ones; nil while nothing is downloaded.
  package var nextPaceCheck: Int? {
    slow.limit.bytesPerSecond > 0 && occupancy.contains { $0.downloads > 0 } ? nextPaceTime : nil
  }

  /// Begins a check for slow downloads if one is due.
  /// - Returns: What is too slow; nil when no check is due.
  mutating func beginPaceCheck(now: Int) -> DownloadPace.Limit? {
    guard let due = nextPaceCheck, due <= now else { return nil }
    nextPaceTime = now + max(20, slow.limit.period / 12)
    return slow.limit
  }

  private var admission: AdmissionWindow {
    AdmissionWindow(downloads: limits.downloads, filtrations: limits.filtrations, descriptors: descriptors)
  }

  /// The lowest priority of which an entry may be admitted, as `Entry.Priority.rank`; nil when there is no room at all.
  /// - Parameter held: How many entries are in the queues, or hold files without being there.
  func lowestPriority(held: Int) -> Int? {
    let admission = admission
    var higher = AdmissionWindow.Occupancy()
    var lowest: Int?
    for (rank, occupancy) in occupancy.enumerated() {
      higher.entries += occupancy.entries
      higher.downloads += occupancy.downloads
      higher.bytes += occupancy.bytes
      guard admission.hasRoom(higher, held: held) else { break }
      lowest = rank
    }
    return lowest
  }

  /// Records that entries were started as long as they could be. Entries of a higher priority may have room even then.
  package mutating func startedAll() {
    window.started(isFull: occupancy.reduce(0) { $0 + $1.downloads } >= admission.downloads)
  }

  mutating func started(rank: Int) {
    occupancy[rank].entries += 1
    occupancy[rank].downloads += 1
  }

  /// - Parameter bytes: What was downloaded.
  mutating func downloadEnded(rank: Int, bytes: Int, wasSlow: Bool) {
    if wasSlow { slow.ended() }
    occupancy[rank].downloads -= 1
    occupancy[rank].bytes += bytes
  }

  /// Removes an entry whose download has ended.
  mutating func remove(rank: Int, bytes: Int) {
    occupancy[rank].entries -= 1
    occupancy[rank].bytes -= bytes
  }
}
