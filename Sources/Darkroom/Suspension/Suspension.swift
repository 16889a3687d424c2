import Ledger
import System

/// What suspends both queues: locks, want of space, and an outage of the network. It belongs to the thread of `Darkroom`.
final class Suspension {
  private(set) var pauses = PauseTracker()
  private var locks: [Lock] = []
  private let outbox: OutboxFolder
  private let downloads: DownloadCache
  private var minFree: Int

  /// Until when the queues are suspended because a write was refused for want of space, as `Clock.monotonicSeconds`.
  private(set) var diskFullUntil = 0.0

  /// Since when, as `Clock.monotonicMilliseconds`, writing has failed for want of space without a success in between.
  private(set) var stuckSince: Int?

  init(outbox: OutboxFolder, downloads: DownloadCache, minFree: Int) {
    self.outbox = outbox
    self.downloads = downloads
    self.minFree = minFree
  }

  func configure(minFree: Int) { self.minFree = minFree }

  var isPaused: Bool { pauses.isPaused }

  /// Takes in the locks that hold, and looks at the disk.
  /// - Parameter locks: nil when the inbox could not be read: those that held are taken to hold.
  /// - Returns: What has changed.
  func update(locks: [Lock]?, now: Double) -> PauseTracker.Change {
    needsScan = false
    if let locks { self.locks = locks }
    let causes = self.locks.map(PauseCause.lock) + diskCause(now) + (networkReason.map { [.network(reason: $0)] } ?? [])
    let wasPaused = isPaused
    defer {
      if isPaused != wasPaused { activity.pause(isPaused, now: Clock.monotonicMilliseconds) }
    }
    return pauses.update(causes, at: Clock.wallMilliseconds)
  }

  /// Why the network is taken to be down; nil when it is not.
  var networkReason: String? {
    didSet { needsScan = needsScan || networkReason != oldValue }
  }

  /// The time without pauses.
  private(set) var activity = ActiveTime()

  /// Takes over the beginning of a pause that held in an earlier process.
  /// - Returns: Whether its cause holds now.
  func adopt(_ pause: LedgerPause) -> Bool { pauses.adopt(pause) }

  // MARK: Space

  private func diskCause(_ now: Double) -> [PauseCause] {
    guard var free = try? Folder.freeSpace(outbox.path) else { return [] }
    // What was downloaded before is worth less than what is to be done.
    if free < minFree, downloads.clear() { free = (try? Folder.freeSpace(outbox.path)) ?? free }
    if free < minFree {
      return [.disk(reason: "\(ByteCount(free)) free in the outbox, and --min-free is \(ByteCount(minFree))")]
    }
    return now < diskFullUntil ? [.disk(reason: "a write was refused for want of space")] : []
  }

  /// Whether the causes are to be looked at anew.
  private(set) var needsScan = false

  /// Suspends the queues for a while because something could not be written for want of space.
  func waitForSpace(now: Double) {
    _ = downloads.clear()
    diskFullUntil = now + 5
    stuckSince = stuckSince ?? Clock.monotonicMilliseconds
    needsScan = true
  }

  /// Records that something could be written.
  func wroteSomething() { stuckSince = nil }

  /// Since when nothing goes on, as `Clock.monotonicMilliseconds`; nil when something does.
  var since: Int? { [activity.since, stuckSince].compactMap { $0 }.min() }
}
