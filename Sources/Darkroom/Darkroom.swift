import Foundation
import Ledger
import Transfer

/// The whole of the work: manifests from the inbox become pictures and reports in the outbox.
///
/// ```
/// inbox ─▶ JobChoice ─▶ Acceptance ─▶ Planner ─▶ PendingOperations ─▶ Courier ─▶ ReportFile
///   │                                            ├ download queue: ImageDownloader
///   └ locks suspend ─────────────────────────────┤        │ dependency
///                                                └ filtration queue: ImageFiltration
/// ```
///
/// One thread, the caller's, goes round: look at the inbox, take in what has ended, start what may start, wait. It is
/// level-triggered: every round compares what is wanted with what is there. Other threads only post messages.
package final class Darkroom {
  package static let version = "0.1.0"

  /// What other threads tell.
  enum Message: Sendable {
    case prepared(LedgerJob, Result<Preparation.Prepared, any Error>)
    case downloaded(PhotoRecord)
    case ended(PhotoRecord)
    case settled([Courier.Settled])
    case refused([PhotoRecord])
    case full
    case broken(any Error)
    case cacheFailed(String)
    case configure(@Sendable () throws -> Configuration)
    case stop
  }

  /// An engine of an earlier configuration; nil once its last transfer has ended.
  private struct EarlierEngine {
    weak var engine: TransferEngine?
  }

  /// What the jobs of this process came to.
  package struct Summary: Sendable {
    /// How jobs ended.
    package var states: Set<JobOutcome.State> = []
    /// Whether a job could not be worked on, or its manifest not be moved.
    package var hadTrouble = false
    package var wasStopped = false
  }

  private(set) var configuration: Configuration
  let observe: (Event) -> Void
  private(set) var inbox: Inbox
  let outbox: OutboxFolder
  /// The outbox as it was at the start.
  let outboxIdentity: FileIdentity
  let state: StateFolder
  let ledger: Ledger
  let mailbox: Mailbox<Message>
  let pending: PendingOperations
  private let watch: FolderWatch
  private let instances: [InstanceLock]
  /// The engine that transfers start on. An earlier one lives as long as transfers that were started on it.
  private var engine: TransferEngine
  private var earlierEngines: [EarlierEngine] = []

  var summary = Summary()
  var choice: JobChoice
  /// The job whose manifest is being planned.
  var preparing: Preparation?
  /// The job that is worked on; when this process began with it, and how many of its rows there were then.
  var current: (job: Job, courier: Courier, began: (seconds: Double, ended: Int))?
  /// The hosts that asked to be left alone.
  let throttles = ThrottleMemory()
  /// A job all of whose rows are durable, and whose report is still to be written.
  var finishing: (job: Job, outcome: JobOutcome)?
  private var settling: Settling
  private var isInboxUnreadable = false
  /// What was downloaded before, whether or not there is to be a cache now.
  let downloads: DownloadCache
  private(set) var ignored: Set<InboxScan.Foreign> = []
  private var locks: [Lock] = []
  var pauses = PauseBook()
  /// When the ledger was last written before this process began, in milliseconds since 1970.
  let lastActive: Int
  var lookSchedule = LookSchedule()
  /// Since when there has been nothing to do but to wait for manifests that are still being written.
  private var unsettledSince: Double?
  var nextStatus = 0.0
  var lastStatus: Status?
  /// Until when the queues are suspended because a write was refused for want of space.
  var diskFullUntil = 0.0
  /// Since when, in milliseconds since 1970, writing has failed for want of space without a success in between.
  var stuckSince: Int?
  private(set) var stopDeadline: Double?
  /// Records that the courier has and that are not durable yet.
  var undelivered = 0

  /// Takes possession of the folders, opens the ledger and puts in order what an earlier process left.
  /// - Parameter observe: Called on the thread that calls `run` or `watchInbox`.
  /// - Throws: `StopError`, `SystemError`, `SQLiteError`, `LedgerError`.
  package init(configuration: Configuration, observe: @escaping (Event) -> Void) throws {
    self.configuration = configuration
    self.observe = observe
    inbox = try Inbox(path: Folder.resolved(configuration.inbox), extraLock: configuration.lockFile)
    outbox = OutboxFolder(path: try Folder.resolved(configuration.outbox))
    try Folder.createDurably(outbox.hidden, mode: 0o700)
    outboxIdentity = try FileStatus(of: outbox.hidden).identity
    try Folder.createDurably(configuration.state, mode: 0o700)
    state = StateFolder(path: try Folder.resolved(configuration.state))
    instances = try Self.takeInstanceLocks(inbox: inbox, outbox: outbox, state: state)
    try Folder.createDurably(outbox.staging(of: state), mode: 0o700)
    try Folder.createDurably(state.jobs, mode: 0o700)
    lastActive = (try? FileStatus(of: state.ledger)).map { Int($0.identity.modified.sinceEpoch * 1000) } ?? 0
    ledger = try Ledger(path: state.ledger)
    let unfinished = try ledger.liveJobs()[...]
    choice = JobChoice(goal: .watch, unfinished: unfinished)
    let finishing = try unfinished.filter { $0.state == .finishing }.map { try JobManifest(text: $0.details).identity }
    do {
      try ManifestRemoval.resume(inbox: inbox.path, finishing: finishing)
    } catch {
      summary.hadTrouble = true
      observe(.warning("what an earlier process may have left in the inbox is not looked at: \(error)"))
    }
    mailbox = try Mailbox()
    downloads = DownloadCache(folder: state.cache, limit: configuration.cacheSize) { [mailbox] error in
      mailbox.post(.cacheFailed("\(error)"))
    }
    engine = TransferEngine(configuration: configuration.transfer)
    pending = PendingOperations(
      configuration: configuration, engine: engine,
      downloaded: { [mailbox] in mailbox.post(.downloaded($0)) }, ended: { [mailbox] in mailbox.post(.ended($0)) })
    watch = FolderWatch(folder: inbox.path)
    settling = Settling(time: configuration.settle)
    try Leftovers(staging: outbox.staging(of: state), state: state).remove(keeping: unfinished, ledger: ledger)
  }

  /// What was downloaded before; nil when there is to be no cache.
  var cache: DownloadCache? { configuration.cacheSize > 0 ? downloads : nil }

  private static func takeInstanceLocks(
    inbox: Inbox, outbox: OutboxFolder, state: StateFolder
  ) throws -> [InstanceLock] {
    var locks = [
      try InstanceLock(file: inbox.file(Inbox.instanceFile), of: inbox.path),
      try InstanceLock(file: outbox.instanceFile, of: outbox.path),
    ]
    if state.path != outbox.hidden { locks.append(try InstanceLock(file: state.instanceFile, of: state.path)) }
    return locks
  }

  /// Processes what lies in the inbox now, or the files named, and returns.
  package func run(manifests: [String] = []) throws -> Summary {
    for path in manifests { try checkNamed(path) }
    return try work(manifests.isEmpty ? .inbox : .named(manifests))
  }

  /// Processes whatever is dropped, until it is told to stop.
  package func watchInbox() throws -> Summary { try work(.watch) }

  /// What tells the program to stop, from any thread: running operations get their time to finish, the rest stays for
  /// the next start.
  package var stop: @Sendable () -> Void { { [mailbox] in mailbox.post(.stop) } }

  /// What has the program read its configuration again, from any thread. The folders stay; what has begun goes on as it
  /// was; a configuration that makes no sense changes nothing.
  package var configure: @Sendable (@escaping @Sendable () throws -> Configuration) -> Void {
    { [mailbox] read in mailbox.post(.configure(read)) }
  }

  // MARK: The round

  private func work(_ goal: JobChoice.Goal) throws -> Summary {
    defer {
      // After an error some may run, or wait for others and then begin.
      pending.cancelAll()
      for earlier in earlierEngines { earlier.engine?.shutdown() }
      engine.shutdown()
      pending.waitForEndings()
      downloads.settle()
    }
    choice = JobChoice(goal: goal, unfinished: choice.unfinished)
    for job in choice.unfinished { try pass(job) }
    observe(.watching(inbox: inbox.path, outbox: outbox.path))
    do {
      while try goRound() {}
      try closePauses()
    } catch {
      // When the outbox has gone, that explains every other error.
      try checkOutbox()
      throw error
    }
    return summary
  }

  /// One round.
  /// - Returns: Whether there is to be another.
  private func goRound() throws -> Bool {
    try look()
    try takeIn(mailbox.collect())
    try startJob()
    try admit()
    let hasEnded = try finishJobIfDone()
    writeStatus()
    if isOver { return false }
    if hasEnded { return true }
    try checkLockWait()
    mailbox.wait(alongside: watch.descriptor, seconds: timeToWait())
    return true
  }

  /// Looks at the inbox, if something may have changed in it or it is time.
  private func look() throws {
    let notices = watch.notices()
    for notice in notices { settling.note(notice) }
    lookSchedule.note(notices)
    let now = Clock.seconds
    guard now >= lookSchedule.due else { return }
    try checkOutbox()
    if let scan = try scan() {
      locks = scan.locks
      for foreign in Set(scan.foreign).subtracting(ignored) {
        observe(.foreignFile(name: foreign.file.description, why: foreign.why))
      }
      ignored = Set(scan.foreign)
      let fresh = choice.fresh(of: scan.manifests)
      let settled = settling.settled(fresh, now: now, wallClock: Clock.wallSeconds)
      choice.see(fresh, settled: settled)
    }
    lookSchedule.looked(from: now, to: Clock.seconds, interval: configuration.pollInterval)
    try pauseOrResume(locks.map(PauseCause.lock) + diskCause(now), isStopping: stopDeadline != nil)
  }

  /// - Returns: nil when the inbox cannot be looked at. Nothing follows from that for what is in it.
  /// - Throws: `StopError.missing`, unless the goal is to watch.
  private func scan() throws -> InboxScan? {
    do {
      let scan = try inbox.scan()
      isInboxUnreadable = false
      return scan
    } catch {
      if case .watch = choice.goal {
        if !isInboxUnreadable { observe(.inboxUnreadable(error.description)) }
        isInboxUnreadable = true
        return nil
      }
      throw StopError.missing("the inbox cannot be read: \(error)")
    }
  }

  /// `run` gives up when it has been paused for too long, once what runs has finished; `watch` never does.
  private func checkLockWait() throws {
    if case .watch = choice.goal { return }
    try checkUnsettled()
    // What the courier holds does not go on either, when it is stuck.
    guard let limit = configuration.lockWait, stopDeadline == nil, pending.isIdle,
      undelivered == 0 || stuckSince != nil,
      let since = [pauses.pausedSince, stuckSince].compactMap({ $0 }).min(),
      Double(Clock.milliseconds - since) / 1000 >= limit
    else { return }
    try closePauses()
    throw StopError.pausedTooLong(seconds: limit, causes: pauses.description)
  }

  /// Nor does `run` wait longer for a manifest that is being written on and on.
  private func checkUnsettled() throws {
    guard isFree, undelivered == 0, stopDeadline == nil, !pauses.isPaused, stuckSince == nil else {
      return unsettledSince = nil
    }
    let since = unsettledSince ?? Clock.seconds
    unsettledSince = since
    // A file that is left alone settles within this time.
    let least = configuration.settle + configuration.pollInterval
    guard let limit = configuration.lockWait, Clock.seconds - since >= limit + least else { return }
    throw StopError.unsettled(files: choice.queued(limit: 10).files, seconds: limit)
  }

  /// Takes in what other threads have told.
  private func takeIn(_ messages: [Message]) throws {
    for message in messages {
      switch message {
      case .prepared(let job, let prepared): try takeIn(prepared, of: job)
      case .downloaded(let record): try leaveHost(record)
      case .ended(let record): try takeIn(record)
      case .settled(let delivered):
        undelivered -= delivered.count
        stuckSince = nil
        guard let job = current?.job else { break }
        for settled in delivered {
          job.add(settled.row)
          job.end(settled.record.entry)
          observe(.entryEnded(job: job.name, row: settled.row))
        }
      case .refused(let records):
        undelivered -= records.count
        for record in records { postpone(record) }
      case .full: pauseForSpace()
      case .broken(let error): throw error
      case .cacheFailed(let why): observe(.warning("the download cache is not used until the next start: \(why)"))
      case .configure(let read):
        do {
          adopt(try read())
        } catch {
          observe(.warning("the configuration stays as it was: \(error)"))
        }
      case .stop: beginToStop()
      }
    }
    if let deadline = stopDeadline, Clock.seconds >= deadline {
      pending.cancelAll()
      current?.courier.abandon()
    }
  }

  private func adopt(_ new: Configuration) {
    var new = new
    if (new.inbox, new.outbox, new.state) != (configuration.inbox, configuration.outbox, configuration.state) {
      observe(.warning("other folders are used only after a restart"))
    }
    (new.inbox, new.outbox, new.state) = (configuration.inbox, configuration.outbox, configuration.state)
    configuration = new
    inbox.extraLock = new.lockFile
    settling.time = new.settle
    earlierEngines = earlierEngines.filter { $0.engine != nil } + [EarlierEngine(engine: engine)]
    engine = TransferEngine(configuration: new.transfer)
    pending.configure(new, engine: engine)
    if new.cacheSize > 0 { cache?.resize(to: new.cacheSize) }
    lookSchedule.hurry()
    observe(.configured)
  }

  private func beginToStop() {
    guard stopDeadline == nil else { return }
    stopDeadline = Clock.seconds + configuration.grace
    summary.wasStopped = true
    observe(.stopping)
    preparing?.cancel()
    pending.cancelWaiting()
    // Cancelled operations finish only in a queue that runs.
    pending.resumeAll()
  }

  /// Starts the next job, if none is being worked on.
  private func startJob() throws {
    while isFree, stopDeadline == nil, Clock.seconds >= diskFullUntil {
      switch choice.next() {
      case .nothing: return
      case .resume(let job): try begin(job)
      case .named(let path): try takeNamed(path)
      case .dropped(let manifest): try take(manifest)
      }
    }
  }

  /// Whether no job is at hand.
  private var isFree: Bool { preparing == nil && current == nil && finishing == nil }

  private var isOver: Bool {
    guard let stopDeadline else { return isFree && choice.isOver }
    let isDelivered = undelivered == 0 || Clock.seconds >= stopDeadline + 5
    return preparing == nil && pending.inProgress.isEmpty && isDelivered
  }

  private func timeToWait() -> Double {
    let untilLook = max(0, lookSchedule.due - Clock.seconds)
    if let stopDeadline { return min(untilLook, max(0.05, stopDeadline - Clock.seconds)) }
    guard !pauses.isPaused, pending.hasRoom(besides: undelivered), let untilRetry = current?.job.secondsToNextChange
    else { return untilLook }
    return min(untilLook, untilRetry)
  }
}
