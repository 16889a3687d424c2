import Inbox
import Ledger
import Model
import Operations
import Sandbox
import System

/// What suspends both queues: locks, and want of space or memory. It belongs to the thread of `Darkroom`.
final class Suspension {
  private(set) var pauses = PauseTracker()
  private var locks: [Lock] = []
  private let outbox: OutboxFolder
  private let downloads: DownloadCache
  private var minFree: Int

  /// The state folder; nil when it need not be looked at.
  private let state: StateFolder?

  /// An error of the machine's that was met since everything could be written.
  private var suspected: String?

  /// Why the outbox is not where it was, as of the last scan; nil when it is.
  var outboxTrouble: StopError?

  /// Why nothing can be recorded, and until when that is taken to be so, as `Clock.monotonicSeconds`.
  private var failing: (reason: String, until: Double, isOfDisk: Bool)?

  /// Until when the queues are suspended because a write was refused for want of space, as `Clock.monotonicSeconds`.
  private(set) var diskFullUntil = 0.0

  /// Since when, as `Clock.monotonicMilliseconds`, writing has failed for want of space without a success in between.
  private(set) var stuckSince: Int?

  private var memory: MemoryWatch

  init(
    outbox: OutboxFolder, state: StateFolder? = nil, downloads: DownloadCache, minFree: Int,
    memory: MemoryWatch = MemoryWatch { MemoryReading() }
  ) {
    self.memory = memory
    self.state = state
    self.outbox = outbox
    self.downloads = downloads
    self.minFree = minFree
  }

  func configure(minFree: Int) { self.minFree = minFree }

  var isPaused: Bool { pauses.isPaused }

  /// Updates the causes of pauses: the locks that hold, and the disk.
  /// - Parameter locks: nil when the inbox could not be read: those that held are taken to hold.
  /// - Returns: What has changed.
  func update(locks: [Lock]?, now: Double) -> PauseTracker.Change {
    needsScan = false
    if let locks { self.locks = locks }
    var causes = self.locks.map(PauseCause.lock) + diskCause(now)
    if let reason = memory.pressure.reason(now: Clock.monotonicMilliseconds) { causes.append(.memory(reason: reason)) }
    let wasPaused = isPaused
    defer {
      if isPaused != wasPaused { activity.pause(isPaused, now: Clock.monotonicMilliseconds) }
    }
    return pauses.update(causes, at: Clock.wallMilliseconds)
  }

  /// The time without pauses.
  private(set) var activity = ActiveTime()

  // MARK: Memory

  /// Looks at the memory when that is due.
  /// - Parameter isWorking: Whether jobs are live.
  func watchMemory(isWorking: Bool) {
    let (now, wasScarce) = (Clock.monotonicMilliseconds, isShortOfMemory)
    memory.check(isWorking: isWorking, now: now)
    if isShortOfMemory != wasScarce { needsScan = true }
  }

  /// When it is looked at again, as `Clock.monotonicMilliseconds`; nil while no job is live.
  var memoryCheck: Int? { memory.due }

  /// Whether memory is scarce, whether or not the queues are suspended already.
  var isShortOfMemory: Bool { memory.pressure.since != nil }

  /// Whether one operation at a time goes on: nothing but scarce memory suspends the queues, and that for a while.
  var allowsOne: Bool {
    pauses.isPaused(onlyBy: PauseCause.memory(reason: "").kind)
      && memory.pressure.allowsOne(now: Clock.monotonicMilliseconds)
  }

  // MARK: Pauses

  /// Takes over the beginning of a pause that held in an earlier process.
  /// - Returns: Whether its cause holds now.
  func adopt(_ pause: LedgerPause) -> Bool { pauses.adopt(pause) }

  // MARK: Space

  /// Whether there is room, as of the last look.
  private enum Room { case enough, clearing, scarce }

  private var room = Room.enough

  /// Whether the cache is being emptied.
  private var isClearing = false

  /// Whether it is open still if there will be room: nothing begins until then.
  var awaitsRoom: Bool { room == .clearing }

  /// Handles low disk space: clears the cache, then pauses. What was downloaded before is worth less than what is to be done:
  /// only when that has been removed is it known whether there is room.
  private func isShortOfRoom() -> Bool {
    switch room {
    case .enough:
      room = .clearing
      clearCache()
    case .clearing where isClearing: break
    case .clearing: room = .scarce
    case .scarce: clearCache()
    }
    return room == .scarce
  }

  private func clearCache() {
    guard !isClearing else { return }
    isClearing = true
    downloads.clear()
  }

  /// Records that the cache was emptied.
  func cacheWasCleared() {
    isClearing = false
    if room == .clearing { needsScan = true }
  }

  private func diskCause(_ now: Double) -> [PauseCause] {
    if let failure = failure(now) { return [.disk(reason: failure)] }
    for (folder, name) in [(outbox.path, "outbox"), (state?.path, "state folder")] {
      guard let folder, let free = try? Folder.freeSpace(folder), free < minFree else { continue }
      guard isShortOfRoom() else { return [] }
      return [.disk(reason: "\(ByteCount(free)) free in the \(name), and --min-free is \(ByteCount(minFree))")]
    }
    room = .enough
    return now < diskFullUntil ? [.disk(reason: "a write was refused for want of space")] : []
  }

  private var entryRoom = EntryRoom()

  /// Whether there is room beyond `--min-free` for what another entry will write.
  /// - Parameter inProgress: How many entries are in progress or being delivered.
  func hasRoom(besides inProgress: Int) -> Bool {
    guard minFree > 0 else { return true }
    let mayStart = entryRoom.mayStart(inProgress: inProgress, now: Clock.monotonicMilliseconds) {
      min((try? Folder.freeSpace(outbox.path)).map { $0 - minFree } ?? .max, freeForState)
    }
    // Then less is free than should be.
    if !mayStart, inProgress == 0 { needsScan = true }
    return mayStart
  }

  /// Records what an entry has written.
  /// - Parameter bytes: 0 for a result that was there.
  func entryEnded(bytes: Int) { entryRoom.entryEnded(bytes: bytes) }

  /// Whether a want of space, or a failure of the machine, suspends the queues.
  var hasDiskCause: Bool { pauses.open(since: 0).contains { $0.cause == PauseCause.disk(reason: "").kind } }

  /// The bytes that are free in the state folder's file system, beyond `--min-free`.
  var freeForState: Int {
    guard let path = state?.path, let free = try? Folder.freeSpace(path) else { return .max }
    return free - minFree
  }

  // MARK: Failures of the machine

  /// Why nothing can be written; nil when something can.
  private func failure(_ now: Double) -> String? {
    // That explains every other error.
    if let outboxTrouble { return "\(outboxTrouble); nothing is lost, and the work goes on when it is back" }
    if let failing, failing.isOfDisk, now < failing.until { return failing.reason }
    guard let suspected else { return nil }
    guard let state else { return suspected }
    if let error = WriteProbe.failure(
      in: [(outbox.path, Folder.name(of: outbox.hidden) + "/" + outbox.stagingName(of: state)), (state.jobs, "")]),
      !error.isOutOfSpace, !error.isExhaustion
    {
      return error.description
    }
    self.suspected = nil
    return nil
  }

  /// Records an error of the machine's. If nothing else can be written either, the queues are suspended until it can; not for
  /// want of descriptors or memory, which what goes on gives back.
  func suspect(_ error: any Error) {
    if suspected == nil { needsScan = true }
    suspected = "\(error)"
  }

  /// Suspends the queues for a while because nothing can be recorded, unless that is for want of descriptors or memory.
  func fail(_ error: any Error, now: Double) {
    needsScan = true
    failing = ("\(error)", now + 5, !error.isExhaustion)
  }

  /// An error of the machine's that holds, in words; nil when none is known.
  var failureReason: String? {
    if let failing, Clock.monotonicSeconds < failing.until { return failing.reason }
    return suspected
  }

  /// Whether the causes are to be looked at anew.
  private(set) var needsScan = false

  /// Suspends the queues for a while because something could not be written for want of space.
  /// - Parameter isForAll: Whether others wait, too: not for one that needs more than they do. Default: true.
  func waitForSpace(now: Double, isForAll: Bool = true) {
    clearCache()
    if isForAll { diskFullUntil = now + 5 }
    stuckSince = stuckSince ?? Clock.monotonicMilliseconds
    needsScan = true
  }

  /// Records that something could be written.
  func wroteSomething() {
    stuckSince = nil
    failing = nil
    lastWritten = Clock.monotonicSeconds
  }

  /// Records that there was room for the plan of a job.
  func plannedSomething() { stuckSince = nil }

  /// When something could be written last, as `Clock.monotonicSeconds`.
  private(set) var lastWritten = Clock.monotonicSeconds

  /// Since when nothing goes on, as `Clock.monotonicMilliseconds`; nil when something does.
  var since: Int? { [activity.since, stuckSince].compactMap { $0 }.min() }
}

extension Gate {
  /// - Parameters:
  ///   - stop: Why the program ends; nil when it does not.
  ///   - now: Seconds of the monotonic clock.
  init(_ suspension: Suspension, stop: Stop?, now: Double) {
    self.init(
      stop: stop, isPaused: suspension.isPaused, isShortOfMemory: suspension.isShortOfMemory,
      allowsOne: suspension.allowsOne, isShortOfSpace: suspension.hasDiskCause || suspension.awaitsRoom,
      awaitsRoom: suspension.awaitsRoom, wasRefused: now < suspension.diskFullUntil)
  }
}
