import Inbox
import Model
import Operations
import Sandbox
import System

/// What suspends both queues: locks, and want of space or memory. It belongs to the thread of `Darkroom`.
final class Suspension {
  var pauses = PauseTracker()
  private var locks: [Lock] = []
  private let outbox: OutboxFolder
  private let staging: String
  private let state: StateFolder
  var memory: MemoryWatch
  var space: FreeSpace
  var failures = MachineFailures(now: Clock.monotonicSeconds)

  /// The time without pauses.
  private(set) var activity = ActiveTime()

  /// When the queues were last resumed, as `Clock.monotonicSeconds`; 0 before that.
  private(set) var resumedAt = 0.0

  /// - Parameter staging: The path of the staging folder, relative to the outbox.
  init(
    outbox: OutboxFolder, staging: String, state: StateFolder, downloads: DownloadCache, minFree: Int,
    memory: MemoryWatch = MemoryWatch { MemoryReading() }
  ) {
    (self.outbox, self.staging, self.state, self.memory) = (outbox, staging, state, memory)
    space = FreeSpace(outbox: outbox.path, state: state.path, minFree: minFree) { downloads.clear() }
  }

  /// Reads what is read while jobs are live.
  func check(isWorking: Bool) { memory.check(isWorking: isWorking, now: Clock.monotonicMilliseconds) }

  /// When `check` reads again, as `Clock.monotonicMilliseconds`; nil while no job is live.
  var due: Int? { memory.due }

  /// Whether the causes are to be checked.
  var needsScan: Bool { memory.needsScan || space.needsScan || failures.needsScan }

  /// Updates the causes of pauses: the locks that hold, the disk and memory.
  /// - Parameter locks: nil when the inbox could not be read: those that held are taken to hold.
  /// - Returns: What has changed.
  func update(locks: [Lock]?, now: Double) -> PauseTracker.Change {
    (memory.needsScan, space.needsScan, failures.needsScan) = (false, false, false)
    if let locks { self.locks = locks }
    var causes = self.locks.map(PauseCause.lock)
    if let reason = diskReason(now) { causes.append(.disk(reason: reason)) }
    if let reason = memory.pressure.reason(now: Clock.monotonicMilliseconds) { causes.append(.memory(reason: reason)) }
    let wasPaused = pauses.isPaused
    let change = pauses.update(causes, at: Clock.wallMilliseconds)
    if pauses.isPaused != wasPaused { activity.pause(!wasPaused, now: Clock.monotonicMilliseconds) }
    if wasPaused, !pauses.isPaused { resumedAt = now }
    return change
  }

  /// Since when nothing goes on, as `Clock.monotonicMilliseconds`; nil when something does.
  var since: Int? { [activity.since, failures.stuckSince].compactMap { $0 }.min() }

  /// Whether one operation at a time goes on: nothing but scarce memory suspends the queues, and that for a while.
  var allowsOne: Bool {
    pauses.isPaused(onlyBy: PauseCause.memory(reason: "").kind)
      && memory.pressure.allowsOne(now: Clock.monotonicMilliseconds)
  }

  /// Why want of space, or a failure of the machine, suspends the queues; nil when neither does.
  private func diskReason(_ now: Double) -> String? {
    let failure = failures.check(now: now) {
      WriteProbe.failure(in: [(outbox.path, staging), (state.jobs, "")])
    }
    if let reason = failure ?? space.check() { return reason }
    return !space.awaitsRoom && now < failures.diskFullUntil ? "a write failed: no space left" : nil
  }

  /// Suspends the queues for a while because something could not be written for want of space.
  /// - Parameter isForAll: Whether others wait, too: not for one that needs more than they do. Default: true.
  func waitForSpace(now: Double, isForAll: Bool = true) {
    space.clearCache()
    failures.waitForSpace(now: now, isForAll: isForAll)
  }
}

extension Gate {
  /// - Parameters:
  ///   - stop: Why the program ends; nil when it does not.
  ///   - now: Seconds of the monotonic clock.
  init(_ suspension: Suspension, stop: Stop?, now: Double) {
    // A want of space, or a failure of the machine.
    let hasDiskCause = suspension.pauses.isPaused(by: .disk(reason: ""))
    self.init(
      stop: stop, isPaused: suspension.pauses.isPaused, isShortOfMemory: suspension.memory.isScarce,
      allowsOne: suspension.allowsOne, isShortOfSpace: hasDiskCause || suspension.space.awaitsRoom,
      awaitsRoom: suspension.space.awaitsRoom, wasRefused: now < suspension.failures.diskFullUntil)
  }
}
