import Foundation
import Ledger
import Transfer

/// The whole of the work: manifests from the inbox become pictures and reports in the outbox.
///
/// ```
/// inbox ─▶ Acceptance ─▶ Planner ─▶ PendingOperations ─▶ Courier ─▶ ReportFile
///   │                               ├ download queue: ImageDownloader
///   └ locks suspend ────────────────┤        │ dependency
///                                   └ filtration queue: ImageFiltration
/// ```
///
/// One thread, the caller's, goes round: look at the inbox, take in what has ended, start what may start, wait. It is
/// level-triggered: every round compares what is wanted with what is there. Other threads only post messages.
package final class Darkroom {
  package static let version = "0.1.0"

  /// What other threads tell.
  enum Message: Sendable {
    case ended(PhotoRecord)
    case settled([PhotoRecord])
    case refused([PhotoRecord])
    case broken(any Error)
    case configure(@Sendable () throws -> Configuration)
    case stop
  }

  /// Which manifests are to be processed.
  enum Goal: Sendable {
    /// Those that lie in the inbox at the first look, then no more.
    case inbox
    /// These files, then no more.
    case named([String])
    /// All that will ever be dropped.
    case watch
  }

  /// What the jobs of this process came to.
  package struct Summary: Sendable {
    package var jobs: [JobSummary] = []
    /// Whether a job could not be worked on, or its manifest not be moved.
    package var hadTrouble = false
    package var wasStopped = false
  }

  private(set) var configuration: Configuration
  let observe: (Event) -> Void
  private(set) var inbox: Inbox
  let outbox: OutboxFolder
  let state: StateFolder
  let ledger: Ledger
  let mailbox: Mailbox<Message>
  let pending: PendingOperations
  /// The last is the one in use; an earlier one may still have transfers.
  private var engines: [TransferEngine]
  private let watch: FolderWatch
  private let instances: [InstanceLock]

  var summary = Summary()
  /// The job that is worked on; when this process began with it, and how many of its rows there were then.
  var current: (job: Job, courier: Courier, began: (seconds: Double, ended: Int))?
  /// Jobs of an earlier process that have not ended.
  var unfinished: ArraySlice<LedgerJob>
  private var goal = Goal.watch
  private var named: ArraySlice<String> = []
  private var wanted: Set<String>?
  private var candidates: [InboxScan.Manifest] = []
  /// The manifests that lay in the inbox at the last look and are still to be processed.
  private var present: [String] = []
  private var hasScanned = false
  private var settling: Settling
  private var processed: [String: String] = [:]
  var toldOf: Set<InboxScan.Foreign> = []
  var pauses = PauseBook()
  private var nextLook = 0.0
  var nextStatus = 0.0
  var lastStatus: Status?
  private var diskFullUntil = 0.0
  private var stopDeadline: Double?
  /// Records that the courier has and that are not durable yet.
  private var undelivered = 0

  /// Takes possession of the folders, opens the ledger and puts in order what an earlier process left.
  /// - Parameter observe: Called on the thread that calls `run` or `watch`.
  /// - Throws: `StopError`, `SystemError`, `SQLiteError`, `LedgerError`.
  package init(configuration: Configuration, observe: @escaping (Event) -> Void) throws {
    self.configuration = configuration
    self.observe = observe
    inbox = Inbox(path: try Folder.resolved(configuration.inbox), extraLock: configuration.lockFile)
    outbox = OutboxFolder(path: try Folder.resolved(configuration.outbox))
    try Folder.create(outbox.hidden, mode: 0o700)
    try Folder.create(configuration.state, mode: 0o700)
    state = StateFolder(path: try Folder.resolved(configuration.state))
    instances = try Self.takeInstanceLocks(inbox: inbox, outbox: outbox, state: state)
    try Folder.create(outbox.staging, mode: 0o700)
    try Folder.create(state.jobs, mode: 0o700)
    ledger = try Ledger(path: state.ledger)
    unfinished = try ledger.liveJobs()[...]
    let finishing = try unfinished.filter { $0.state == .finishing }.map { try JobManifest(text: $0.details).identity }
    try ManifestRemoval.resume(inbox: inbox.path, finishing: finishing)
    mailbox = try Mailbox()
    let engine = TransferEngine(configuration: configuration.transfer)
    engines = [engine]
    pending = PendingOperations(configuration: configuration, engine: engine) { [mailbox] record in
      mailbox.post(.ended(record))
    }
    watch = FolderWatch(folder: inbox.path)
    settling = Settling(time: configuration.settle)
    try Leftovers(staging: outbox.staging, state: state).remove(keeping: unfinished, ledger: ledger)
  }

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
    try work(manifests.isEmpty ? .inbox : .named(manifests))
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

  private func work(_ goal: Goal) throws -> Summary {
    defer { for engine in engines { engine.shutdown() } }
    self.goal = goal
    if case .named(let files) = goal { named = files[...] }
    observe(.watching(inbox: inbox.path, outbox: outbox.path))
    while true {
      try look()
      try takeIn(mailbox.collect())
      try startJob()
      try admit()
      try finishJobIfDone()
      writeStatus()
      if isOver { break }
      try checkLockWait()
      mailbox.wait(alongside: watch.descriptor, seconds: timeToWait())
    }
    return summary
  }

  /// Looks at the inbox, if something may have changed in it or it is time.
  private func look() throws {
    let notices = watch.notices()
    for notice in notices { settling.note(notice) }
    let now = Clock.seconds
    guard !notices.isEmpty || now >= nextLook else { return }
    nextLook = now + configuration.pollInterval
    let scan: InboxScan
    do {
      scan = try inbox.scan()
    } catch {
      return observe(.inboxUnreadable(error.description))
    }
    hasScanned = true
    for foreign in scan.foreign where toldOf.insert(foreign).inserted {
      observe(.foreignFile(name: foreign.file.description, why: foreign.why))
    }
    let unprocessed = scan.manifests.filter { processed[$0.file] != $0.identity.text }
    present = unprocessed.map(\.file)
    if wanted == nil, case .inbox = goal { wanted = Set(unprocessed.map(\.file)) }
    let settled = settling.settled(unprocessed, now: now, wallClock: Clock.wallNanoseconds)
    candidates = settled.filter { wanted?.contains($0.file) ?? true }
    wanted?.formIntersection(unprocessed.map(\.file))
    try pauseOrResume(scan.locks.map(PauseCause.lock) + diskCause(now))
  }

  /// Both queues are suspended while there is a cause.
  private func pauseOrResume(_ causes: [PauseCause]) throws {
    let now = Clock.milliseconds
    let before = pauses.open(since: 0)
    let change = pauses.update(causes, at: now)
    if pauses.isPaused { pending.suspendAll() } else if stopDeadline == nil { pending.resumeAll() }
    for cause in change.began { observe(.paused(cause)) }
    for cause in change.ended {
      observe(.causeGone(cause, remaining: pauses.description))
    }
    if let job = current?.job {
      try notePauses(of: job, ended: before.filter { !pauses.open(since: 0).contains($0) }, at: now)
    }
  }

  /// `run` gives up when it has been paused for too long; `watch` never does.
  private func checkLockWait() throws {
    if case .watch = goal { return }
    if let limit = configuration.lockWait, let since = pauses.pausedSince,
      Double(Clock.milliseconds - since) / 1000 >= limit
    {
      throw StopError.pausedTooLong(seconds: limit, causes: pauses.description)
    }
  }

  /// Records the pauses that hold and those that are over for a job.
  func notePauses(of job: Job, ended: [LedgerPause] = [], at now: Int) throws {
    for pause in pauses.open(since: job.started) { try ledger.record(pause, run: job.runID) }
    for var pause in ended {
      pause.ended = now
      try ledger.record(pause.clipped(to: job.started), run: job.runID)
    }
  }

  private func diskCause(_ now: Double) -> [PauseCause] {
    guard let free = try? Folder.freeSpace(outbox.path) else { return [] }
    if free < configuration.minFree {
      return [.disk(reason: "the outbox's file system has less than \(configuration.minFree) bytes free")]
    }
    return now < diskFullUntil ? [.disk(reason: "the outbox's file system refused a write for want of space")] : []
  }

  /// Takes in what other threads have told.
  private func takeIn(_ messages: [Message]) throws {
    for message in messages {
      switch message {
      case .ended(let record): try takeIn(record)
      case .settled(let records):
        undelivered -= records.count
        guard let job = current?.job else { break }
        for row in records.map({ $0.row() }) {
          job.add(row)
          observe(.entryEnded(job: job.name, row: row))
        }
      case .refused(let records):
        undelivered -= records.count
        for record in records { postpone(record) }
      case .broken(let error): throw error
      case .configure(let read):
        do {
          adopt(try read())
        } catch {
          observe(.warning("the configuration stays as it was: \(error)"))
        }
      case .stop: beginToStop()
      }
    }
    if let deadline = stopDeadline, Clock.seconds >= deadline { pending.cancelAll() }
  }

  private func takeIn(_ record: PhotoRecord) throws {
    pending.remove(record)
    let live = record.snapshot
    if live.failure?.isOutOfSpace == true {
      postpone(record)
    } else if stopDeadline == nil || live.state == .filtered || live.state == .failed {
      undelivered += 1
      current?.courier.submit(record, isUrgent: pending.inProgress.isEmpty)
    }
  }

  /// Has an entry tried again once there is room for its files; until then the queues are suspended.
  private func postpone(_ record: PhotoRecord) {
    current?.job.postpone(record.entry)
    diskFullUntil = Clock.seconds + 5
    nextLook = 0
  }

  private func adopt(_ new: Configuration) {
    var new = new
    if (new.inbox, new.outbox, new.state) != (configuration.inbox, configuration.outbox, configuration.state) {
      observe(.warning("other folders are used only after a restart"))
    }
    (new.inbox, new.outbox, new.state) = (configuration.inbox, configuration.outbox, configuration.state)
    configuration = new
    inbox = Inbox(path: inbox.path, extraLock: new.lockFile)
    settling.time = new.settle
    let engine = TransferEngine(configuration: new.transfer)
    engines.append(engine)
    pending.configure(new, engine: engine)
    nextLook = 0
    observe(.configured)
  }

  private func beginToStop() {
    guard stopDeadline == nil else { return }
    stopDeadline = Clock.seconds + configuration.grace
    summary.wasStopped = true
    observe(.stopping)
    pending.cancelWaiting()
    // Cancelled operations finish only in a queue that runs.
    pending.resumeAll()
  }

  private func admit() throws {
    guard stopDeadline == nil, !pauses.isPaused, let job = current?.job else { return }
    while pending.hasRoom, undelivered < 256, let entry = try job.next() {
      pending.start(PhotoRecord(entry), staging: job.staging)
    }
  }

  /// Starts the next job, if none is being worked on: first what an earlier process left, then what was dropped.
  private func startJob() throws {
    while current == nil, stopDeadline == nil, hasScanned {
      if let job = unfinished.popFirst() {
        try begin(job)
      } else if let path = named.popFirst() {
        try begin(acceptNamed(path))
      } else if let manifest = nextCandidate() {
        guard let job = try accept(manifest) else { return }
        try begin(job)
      } else {
        return
      }
    }
  }

  /// The next manifest of the inbox; not one whose job ended already and that only could not be moved away.
  private func nextCandidate() -> InboxScan.Manifest? {
    if case .named = goal { return nil }
    while let manifest = candidates.first {
      candidates.removeFirst()
      if hasEnded(manifest) { markProcessed(manifest.file, identity: manifest.identity.text) } else { return manifest }
    }
    return nil
  }

  /// This very file needs no further look.
  func markProcessed(_ file: String, identity: String) {
    processed[file] = identity
    wanted?.remove(file)
  }

  /// The manifests that wait for their turn, settled or not.
  var queued: [String] { Array(named) + present.filter { $0 != current?.job.manifest.file } }

  private var isOver: Bool {
    if stopDeadline != nil { return pending.inProgress.isEmpty && undelivered == 0 }
    guard current == nil, hasScanned, unfinished.isEmpty, named.isEmpty else { return false }
    switch goal {
    case .watch: return false
    case .named: return true
    case .inbox: return wanted?.isEmpty ?? false
    }
  }

  private func timeToWait() -> Double {
    let untilLook = max(0, nextLook - Clock.seconds)
    return stopDeadline.map { min(untilLook, max(0.05, $0 - Clock.seconds)) } ?? untilLook
  }
}
