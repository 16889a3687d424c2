import Model
import Scheduling

/// Limits how many operations run at once, and admits entries to the queues. Times are milliseconds of any clock.
package struct QueueRoom {
  /// The number of downloads at once, without silent and slow ones.
  package var window: DownloadWindow

  /// The slow downloads, and the limit below which a download is slow.
  package internal(set) var slow: SlowDownloads

  /// Whether operations run one by one, regardless of the limits.
  var isOneByOne = false

  /// The numbers of downloads and filtrations that may run, unless operations run one by one.
  package internal(set) var limits: (downloads: Int, filtrations: Int)

  /// The number of downloads that only wait for hosts that do not answer.
  private var silent = 0
  private let descriptors: Int
  /// The entries of each priority, by rank.
  private var occupancy = Array(repeating: AdmissionWindow.Occupancy(), count: Entry.Priority.allCases.count)
  /// Whether the window has been full of entries, and not been refilled since, by the rank of those to be admitted.
  private var wasFull = Array(repeating: false, count: Entry.Priority.allCases.count)
  private var nextPaceTime = 0

  /// - Parameter descriptors: The limit of the process's descriptors.
  init(window: DownloadWindow, filtrations: Int, slow: DownloadPace.Limit, descriptors: Int) {
    (self.window, self.slow, self.descriptors) = (window, SlowDownloads(limit: slow), descriptors)
    limits = (window.limit, filtrations)
  }

  /// Updates the limit of downloads. Silent downloads do not count towards it, unless it is fixed.
  /// - Parameter silent: The number of silent downloads. Default: nil, unchanged.
  /// - Returns: Whether the limit has changed.
  @discardableResult
  mutating func update(silent: Int? = nil, now: Int) -> Bool {
    if let silent { self.silent = window.isFixed ? 0 : min(silent, max(0, DownloadWindow.most - window.limit)) }
    let last = limits.downloads
    limits.downloads =
      window.limit + self.silent + (slow.count > 0 ? slow.beside(slots: window.limit, now: now) : 0)
    return limits.downloads != last
  }

  /// When downloads are next checked for slow ones; nil when nothing is downloaded.
  package var nextPaceCheck: Int? {
    slow.limit.bytesPerSecond > 0 && occupancy.contains { $0.downloads > 0 } ? nextPaceTime : nil
  }

  /// Begins a check for slow downloads if one is due.
  /// - Returns: The limit below which a download is slow; nil when no check is due.
  mutating func beginPaceCheck(now: Int) -> DownloadPace.Limit? {
    guard let due = nextPaceCheck, due <= now else { return nil }
    nextPaceTime = now + max(20, slow.limit.period / 12)
    return slow.limit
  }

  private var admission: AdmissionWindow {
    AdmissionWindow(downloads: limits.downloads, filtrations: limits.filtrations, descriptors: descriptors)
  }

  /// The lowest priority at which an entry may be admitted, as `Entry.Priority.rank`; nil when there is no room.
  /// - Parameter held: The number of entries that are in the queues or hold files.
  func lowestPriority(held: Int) -> Int? {
    let admission = admission
    var higher = AdmissionWindow.Occupancy()
    var lowest: Int?
    for (rank, occupancy) in occupancy.enumerated() {
      higher.entries += occupancy.entries
      higher.downloads += occupancy.downloads
      higher.bytes += occupancy.bytes
      guard admission.hasRoom(higher, held: held, wasFull: wasFull[rank]) else { break }
      lowest = rank
    }
    return lowest
  }

  /// Records that entries were started until none could be. Entries of a higher priority may still have room.
  package mutating func startedAll() {
    window.started(isFull: occupancy.reduce(0) { $0 + $1.downloads } >= admission.downloads)
  }

  mutating func started(rank: Int) {
    occupancy[rank].entries += 1
    occupancy[rank].downloads += 1
    countEntries()
  }

  /// - Parameter bytes: The bytes that were downloaded.
  mutating func downloadEnded(rank: Int, bytes: Int, wasSlow: Bool) {
    if wasSlow { slow.ended() }
    occupancy[rank].downloads -= 1
    occupancy[rank].bytes += bytes
  }

  /// Removes an entry whose download has ended.
  mutating func remove(rank: Int, bytes: Int) {
    occupancy[rank].entries -= 1
    occupancy[rank].bytes -= bytes
    countEntries()
  }

  private mutating func countEntries() {
    let admission = admission
    var count = 0
    for rank in occupancy.indices {
      count += occupancy[rank].entries
      wasFull[rank] = admission.isFull(count, wasFull: wasFull[rank])
    }
  }
}
