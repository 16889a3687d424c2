import Delivery
import Foundation
import Inbox
import Ledger
import Model
import Operations
import System

/// Processes manifests from the inbox into pictures and reports in the outbox.
///
/// ```
/// wanted                    live                                            done
/// InboxWatcher ─▶ JobQueue ─▶ RunTable.step ─▶ JobPlanning ─▶ EntryFlow ────▶ DeliveryQueue ─▶ outbox
///   │ *.lock ─▶ Suspension ─▶ Gate ┘ effects      ReportFile     ├ download queue: ImageDownloader
///   │                                                            │        │ dependency
///   └ FolderWatch (hints)                                        └ filtration queue: ImageFiltration
///                            Ledger: every state change, committed across jobs
/// ```
///
/// One thread, the caller's, runs the loop: scan, handle messages, update the runs, publish the status, wait. It is
/// level-triggered: each iteration compares the wanted runs with the live ones and acts on the difference. Other threads
/// only post messages.
package final class Darkroom {
  package static let version = Tool.version

  /// A message of another thread. Indirect: as a value it would be copied several times, which takes longer than an allocation.
  indirect enum Message: Sendable {
    case job(BackgroundWork.Message)
    case operation(PendingOperations.Event)
    case delivery(DeliveryQueue.Message)
    case cacheFailed(String)
    case cacheCleared
    case worker(DecodingPool.Notice)
    case galleryFailed(String)
    case notice(NoticeQueue.Message)
    case configure(@Sendable () throws -> Configuration)
    case stop
  }

  let services: Services
  let mailbox: Mailbox<Message>
  private let watcher: InboxWatcher
  private var mustReportUncovered = false
  private let jobs: LiveJobs
  private let outputs: StatusOutputs
  private let notices: Notices
  let currentGrace: CurrentGrace
  private let observe: (Event) -> Void

  /// Called with each new status while jobs are processed, on the thread that calls `run` or `watchInbox`. Default: does
  /// nothing.
  package var publish: (Status) -> Void {
    get { outputs.publish }
    set { outputs.publish = newValue }
  }

  /// The least time between two statuses, in seconds, unless a job enters another phase. Default: 1.
  package var statusInterval: Double {
    get { outputs.interval }
    set { outputs.interval = newValue }
  }

  /// Called by each iteration of the loop with the time, as `Clock.monotonicSeconds`. Returns when the loop must run again
  /// at the latest. Default: nil, whenever there is something to do.
  package var keepAlive: (_ now: Double) -> Double? = { _ in nil }
  private let retry: LocalRetry
  private var configuration: Configuration
  private var waitLimits: WaitLimits

  private var folders: OwnedFolders { services.folders }

  /// Why the inbox cannot be read now, and which errors were reported since it was last readable.
  private var inboxErrors: (current: SystemError?, reported: Set<Int32>) = (nil, [])

  /// Why the program ends, and the deadline of operations, as `Clock.monotonicSeconds`; nil while it does not end.
  private var ending: Ending?

  /// When the time of `run` ends, as `Clock.monotonicSeconds`; nil without `--max-duration`, and for `watch`.
  private var timeLimit: Double?

  /// When the kernel's notices of the inbox are first asked for, as `Clock.monotonicSeconds`. `run` asks late, since the kernel
  /// takes 10 to 20 ms to close an inotify descriptor, half as long as a short run takes.
  private var watchBegins = 0.0

  /// The longest interval of scans before that, in seconds.
  private static let firstScanInterval = 0.1

  /// When the loop last began to wait, as `Clock.monotonicMilliseconds`.
  private var waitBegan = Clock.monotonicMilliseconds

  /// Locks the folders, opens the ledger and completes the work of an earlier process.
  /// - Parameters:
  ///   - retry: How long operations that fail because of the machine are retried. Default: not at all.
  ///   - observe: Called on the thread that calls `run` or `watchInbox`.
  /// - Throws: `StopError`, `SystemError`, `SQLiteError`, `LedgerError`; `CancellationError` when `retry` is cancelled.
  package init(
    configuration: Configuration, retry: LocalRetry = .none, observe: @escaping (Event) -> Void
  ) throws {
    self.configuration = configuration
    currentGrace = CurrentGrace(configuration.grace)
    self.retry = retry
    let metrics = MetricsFile(path: configuration.metrics)
    let observe = { (event: Event) in
      metrics.add(event)
      observe(event)
    }
    self.observe = observe
    (mailbox, services, notices) = try retry.run {
      let mailbox = try Mailbox<Message>()
      let services = try Services(configuration: configuration) { mailbox.post($0) }
      return (mailbox, services, try Notices(ledger: services.ledger) { mailbox.post(.notice($0)) })
    }
    let folders = services.folders
    watcher = InboxWatcher(
      inbox: folders.inbox, configuration: configuration, ignoredFile: folders.state.ignored)
    jobs = services.jobs(configuration: configuration, observe: observe)
    jobs.scheduler.configure(configuration.hosts)
    let status = StatusWriter(folders, hasEarlierJobs: !services.earlier.unfinished.isEmpty)
    let gallery = GalleryFeed(inbox: folders.inbox.path, now: Clock.monotonicSeconds) { [services] in
      services.galleryWriter(boot: ProcessStart.bootID(root: configuration.kernelRoot))
    }
    outputs = StatusOutputs(status, metrics, gallery)
    outputs.configure(configuration, jobs, now: Clock.monotonicSeconds)
    jobs.work.gallery = outputs.galleryWriter
    waitLimits = WaitLimits(configuration, settleTime: watcher.settleTime)
    waitLimits.known = KnownTrouble(folders)
    if let notice = services.notice { observe(.warning(notice)) }
    for trouble in services.earlier.troubles { jobs.report(trouble: trouble) }
  }

  /// Processes the manifests that are in the inbox now, or the named files, and returns.
  ///
  /// After `--max-duration`, running operations get the grace period to finish, and the rest is left for the next
  /// start. An unusable file does not stop the others: a warning names it, and the summary contains `isMissing`.
  /// - Parameter names: Names for files that have none of their own, by path.
  /// - Throws: `StopError.missing` when none of the named files can be a manifest.
  package func run(manifests: [String] = [], called names: [String: String] = [:]) throws -> Summary {
    let now = Clock.monotonicSeconds
    timeLimit = configuration.maxDuration.map { now + $0 }
    watchBegins = now + 1
    let named = try NamedManifest.all(manifests, called: names, inbox: folders.inbox.path, retry: retry) {
      observe(.warning($0.description))
    }
    jobs.table.summary.isMissing = named.count < manifests.count
    return try work(named.isEmpty ? .inbox : .named(named))
  }

  /// Checks that one of the files can be a manifest, which `run` would process.
  /// - Parameters:
  ///   - inbox: The inbox's path, with symbolic links resolved.
  ///   - report: Called with the reason why a file cannot, unless it is thrown.
  /// - Throws: `StopError.missing` when none can; `SystemError`.
  package static func check(
    manifests: [String], called names: [String: String], inbox: String, report: (StopError) -> Void
  ) throws {
    _ = try NamedManifest.all(manifests, called: names, inbox: inbox, report: report)
  }

  /// Processes all manifests that are dropped, until `stop` is called.
  package func watchInbox() throws -> Summary { try work(.watch) }

  // MARK: The loop

  private func work(_ goal: JobQueue.Goal) throws -> Summary {
    var isClean = false
    defer {
      notices.shutDown()
      jobs.shutDown()
      services.shutDown(jobs.pending, isClean: isClean)
    }
    jobs.table.queue = JobQueue(goal: goal, unfinished: services.earlier.unfinished)
    watcher.isPatient = goal == .watch
    observe(.watching(inbox: folders.inbox.path, outbox: folders.outbox.path, goal == .watch ? .watch : .run))
    let certificates = configuration.transfer.certificateProblem.map { [$0] } ?? []
    for warning in folders.warnings + configuration.hosts.warnings + certificates { observe(.warning(warning)) }
    holdUncovered()
    notices.configure(configuration)
    do {
      while try runOnce() {}
      try awaitNotices()
      let now = Clock.monotonicSeconds
      jobs.closePauses(within: (ending?.deadline ?? now + configuration.grace) - now)
      let late = mailbox.collect()
      for case .delivery(.broken(let error)) in late { throw error }
      reportLeft()
      reportUncovered()
      // The status also shows what is left while no process runs.
      writeStatus(Clock.monotonicSeconds, isLast: true)
      outputs.closePages(jobs, now: Clock.monotonicSeconds)
      for case .galleryFailed(let why) in late + mailbox.collect() { observe(.warning(why)) }
      isClean = !jobs.table.isPlanning
    } catch {
      isClean = !error.isOfLedger(folders.state)
      if isClean { try? awaitNotices() }
      if !mayRepair(after: error) { reportLeft() }
      // Those that the status names count as known in the next start.
      reportUncovered()
      let isLockWaitOver = if case StopError.pausedTooLong = error { true } else { false }
      writeStatus(Clock.monotonicSeconds, isLast: true, isLockWaitOver: isLockWaitOver)
      // Deliveries without space must not be waited for.
      jobs.delivery.abandon()
      jobs.closePauses(within: 0)
      // A missing outbox explains all other errors.
      if let missing = try folders.checkOutbox() { throw missing }
      throw error
    }
    return summary
  }

  /// Waits for notifications and programs of `--exec`, up to a limit.
  private func awaitNotices() throws {
    let began = Clock.monotonicSeconds
    var isReported = false
    while notices.isAwaited(since: began, deadline: ending?.deadline, now: Clock.monotonicSeconds) {
      notices.isActive = true
      let now = Clock.monotonicSeconds
      jobs.flow.gate = gate(now)
      writeStatus(now)
      if !isReported, now - began >= Notices.quietTime { observe(.awaitingNotices(notices.awaited)) }
      isReported = now - began >= Notices.quietTime
      mailbox.wait(seconds: 0.2)
      for message in mailbox.collect() { try handle(message, now: Clock.monotonicSeconds) }
    }
    // The threads post their results before they have nothing left to do.
    for message in mailbox.collect() { try handle(message, now: Clock.monotonicSeconds) }
    if let left = notices.left { observe(.warning(left)) }
  }

  /// Reports what this process leaves: jobs that the next start goes on with, and named manifests that it does not know.
  private func reportLeft() {
    for left in jobs.table.left { observe(.jobLeft(job: left.job, ended: left.ended, total: left.total)) }
    for file in jobs.table.notAccepted {
      observe(.warning("\(file) was NOT accepted, and the next start does not know it: name it again"))
    }
  }

  /// Lets the jobs of earlier processes wait that need options which are missing now.
  private func holdUncovered() {
    jobs.table.queue.holdUncovered { [configuration] job in
      (try? JobManifest(text: job.details)).map(AcceptedOptions.init)?.missing(in: configuration) ?? []
    }
    mustReportUncovered = true
  }

  /// Warns of the jobs that wait for options, after the first look at the inbox: some may have been cancelled meanwhile.
  private func reportUncovered() {
    guard mustReportUncovered else { return }
    mustReportUncovered = false
    for wait in jobs.table.waits(Holds()) where wait.missing_options != nil {
      let text = "job \(wait.job) waits: \(wait.why); start with that, or cancel it"
      observe(.warning(text, isKnown: waitLimits.known.covers(wait)))
    }
  }

  /// The outcome of the jobs so far.
  var summary: Summary {
    let table = jobs.table
    let isDone = table.runs.isEmpty && table.queue.isOver && table.stopped.isEmpty
    let isHeld = table.queue.goal != .watch && table.queue.hasHeld
    return Summary(
      states: table.summary.states, hadTrouble: table.summary.hadTrouble, isMissing: table.summary.isMissing,
      isUnfinished: ending?.reason == .outOfTime && !isDone || table.summary.hasLeftOpen || isHeld,
      ignored: watcher.ignored.count { !$0.isFolder })
  }

  /// Whether another start can repair the cause of an error: a damaged ledger, while the program is not stopping.
  func mayRepair(after error: any Error) -> Bool {
    error.isDamageOfLedger && error.isOfLedger(folders.state) && ending == nil
  }

  /// Runs the loop once.
  /// - Returns: Whether to run it again.
  private func runOnce() throws -> Bool {
    let now = Clock.monotonicSeconds
    jobs.sampleBottlenecks(configuration, waitBegan: waitBegan)
    if watcher.isScanDue(now: now) { try scan(now) }
    for message in mailbox.collect() { try handle(message, now: now) }
    if let timeLimit, now >= timeLimit { beginToStop(now, .outOfTime) }
    if let ending, now >= ending.deadline {
      jobs.pending.cancelAll()
      jobs.delivery.abandon()
    }
    if ending == nil {
      watchHosts(now)
      jobs.suspension.check(isWorking: !jobs.runs.isEmpty)
      if jobs.suspension.needsScan { watcher.scanNow() }
    }
    jobs.flow.gate = gate(now)
    let limits = JobLimits(slots: configuration.jobs, live: services.limits.live, total: services.limits.total)
    jobs.update(limits, configuration, cache: services.cache, now: now)
    if jobs.flow.gate.entries == .one { jobs.pending.continueOneByOne() }
    reportUncovered()
    writeStatus(now)
    outputs.updatePages(jobs, now: now)
    leaveOpenFiles(now)
    if isOver(now) { return false }
    if jobs.table.queue.goal != .watch, ending == nil {
      try waitLimits.check(jobs, inboxTrouble: inboxTrouble, now: now)
    }
    let latest = keepAlive(now)
    if now >= watchBegins { watcher.beginWatching() }
    waitBegan = Clock.monotonicMilliseconds
    mailbox.wait(alongside: watcher.descriptor, seconds: min(timeToWait(now), max(0, (latest ?? .infinity) - now)))
    return true
  }

  private func scan(_ now: Double) throws {
    jobs.suspension.failures.outboxTrouble = try folders.checkOutbox()
    if let missing = jobs.suspension.failures.outboxTrouble { jobs.suspension.failures.suspect(missing) }
    if !jobs.flow.holds.isEmpty { jobs.flow.holds.free = jobs.suspension.space.freeForState }
    watcher.recheck(jobs.table.queue.takeUnsettled())
    var locks: [Lock]?
    do throws(SystemError) {
      let view = try watcher.scan(now: now) { scan in
        jobs.findUnwanted(scan, in: folders.inbox, settleTime: watcher.settleTime, now: now)
        return jobs.table.queue.fresh(of: scan.manifests, unexamined: Set(scan.unexamined.map(\.file)))
      }
      inboxErrors = (nil, [])
      if view.hasReturned {
        observe(.watching(inbox: folders.inbox.path, outbox: folders.outbox.path, .inboxReturned))
        jobs.table.inboxReturned()
        watcher.scanNow()
      }
      locks = view.locks
      for ignored in view.ignored { observe(.fileIgnored(name: ignored.file.description, why: ignored.why)) }
      watcher.recordIgnored()
      for file in view.unexamined {
        observe(.warning("\(file.file) in the inbox cannot be examined now, and is tried again: \(file.why)"))
      }
      for file in view.stillOpen {
        observe(.warning("\(file) in the inbox is not read yet: some process has it open for writing"))
      }
      jobs.table.queue.update(view.fresh, settled: view.settled)
      // Holds of other manifests are dropped: those are gone or cannot be read.
      if !jobs.flow.holds.isEmpty {
        jobs.flow.holds.keepPlanning(of: jobs.table.queue.jobs.union(jobs.runs.values.map(\.name)))
      }
    } catch {
      jobs.missing.scanFailed()
      let mayPass = error.cause.isOfMachine && error.cause != .permission
      guard jobs.table.queue.goal == .watch || mayPass else {
        throw StopError.missing("the inbox cannot be read: \(error)")
      }
      if inboxErrors.reported.insert(error.code).inserted { observe(.inboxUnreadable(error.description)) }
      inboxErrors.current = error
    }
    suspendOrResume(locks, now)
  }

  private func writeStatus(_ now: Double, isLast: Bool = false, isLockWaitOver: Bool = false) {
    let error = outputs.write(
      jobs, notices.pending, ignored: watcher.ignored, open: watcher.open(for: 0, now: now),
      inboxError: inboxErrors.current?.description, now: now, isLast: isLast, isLockWaitOver: isLockWaitOver)
    if let error { observe(.warning("the file of --metrics cannot be written, and is tried again: \(error)")) }
  }

  /// Leaves files that are open for writing for too long to the next start of `run`, when nothing else is to be done.
  /// With `--lock-wait`, that option limits the time instead.
  private func leaveOpenFiles(_ now: Double) {
    guard ending == nil, jobs.runs.isEmpty, configuration.lockWait == nil else { return }
    let files = watcher.open(for: WaitLimits.openLimit, now: now)
    if files.isEmpty { return }
    for file in jobs.table.queue.leaveToNextStart(files).sorted(by: { $0.description < $1.description }) {
      jobs.table.summary.hasLeftOpen = true
      let seconds = WaitLimits.openLimit.formatted()
      observe(
        .warning("\(file) is left for the next start: some process has had it open for writing for \(seconds) s"))
    }
  }

  /// A description of why the inbox, or a file in it, cannot be read now; nil when all can.
  private var inboxTrouble: String? {
    inboxErrors.current != nil ? "the inbox cannot be read" : watcher.unexamined.map { "the inbox: \($0.why)" }.min()
  }

  /// Suspends both queues while there is a cause. They run while the program is stopping, when no operation starts,
  /// since cancelled operations only finish in a running queue.
  private func suspendOrResume(_ locks: [Lock]?, _ now: Double) {
    let before = jobs.suspension.pauses.open(since: 0)
    let change = jobs.suspension.update(locks: locks, now: now)
    if gate(now).suspendsQueues { jobs.pending.suspendAll() } else { jobs.pending.resumeAll() }
    if change.began.contains(where: { if case .disk = $0 { true } else { false } }) { jobs.scheduler.dropPartials() }
    for event in change.events(in: jobs.suspension.pauses) { observe(event) }
    jobs.record(change, before: before)
  }

  private func handle(_ message: Message, now: Double) throws {
    switch message {
    case .job(let message): try jobs.handle(message)
    case .operation(.downloadBegan(let record, let time)): jobs.flow.downloadBegan(record, at: time)
    case .operation(.hostAnswered(let record)): jobs.scheduler.hostAnswered(record.id)
    case .operation(.downloadEnded(let record)): jobs.flow.downloadEnded(record, backoff: configuration.backoff)
    case .operation(.operationsEnded(let record)): jobs.flow.operationsEnded(record, configuration)
    case .operation(.filesChecked): jobs.flow.filesChecked(configuration)
    case .delivery(let message):
      try jobs.handle(message)
      if case .reported = message { notices.wake() }
    case .cacheFailed(let why): observe(.warning("the download cache is not used until the next start: \(why)"))
    case .cacheCleared: jobs.suspension.space.cacheWasCleared()
    case .worker(let notice): observe(Event(notice, jobs.pending.decoding.pool.counts))
    case .galleryFailed(let why): observe(.warning(why))
    case .notice(.event(let event)):
      notices.isActive = true
      observe(event)
    case .notice(.changed): break
    case .notice(.broken(let error)): throw error
    case .configure(let read):
      do {
        adopt(try read())
      } catch {
        observe(.warning("the configuration stays as it was: \(error)"))
      }
    case .stop: beginToStop(now, .asked)
    }
    if jobs.suspension.needsScan { watcher.scanNow() }
  }

  /// Decides which operations may start now.
  private func gate(_ now: Double) -> Gate { Gate(jobs.suspension, stop: ending?.reason, now: now) }

  /// Ends the wait for closed hosts while no host answers: `run` leaves the rest to the next start, `watch` gives the
  /// hosts up.
  private func watchHosts(_ now: Double) {
    jobs.flow.reportHosts()
    let limit = configuration.outageWait ?? (jobs.table.queue.goal == .watch ? 86_400 : 600)
    guard jobs.isCutOff(for: limit) else { return }
    if jobs.table.queue.goal == .watch { return jobs.flow.giveUpHosts(after: limit) }
    jobs.table.summary.hasLeftOpen = true
    observe(.warning("no host has answered for \(limit.formatted()) s; what is not done stays for the next start"))
    beginToStop(now, .asked)
  }

  private func adopt(_ new: Configuration) {
    var new = new
    if (new.inbox, new.outbox, new.state) != (configuration.inbox, configuration.outbox, configuration.state) {
      observe(.warning("other folders are used only after a restart"))
    }
    (new.inbox, new.outbox, new.state) = (configuration.inbox, configuration.outbox, configuration.state)
    configuration = new
    currentGrace.value = new.grace
    watcher.configure(new)
    let known = waitLimits.known
    waitLimits = WaitLimits(new, settleTime: watcher.settleTime)
    waitLimits.known = known
    services.configure(new, jobs)
    outputs.configure(new, jobs, now: Clock.monotonicSeconds)
    notices.configure(new)
    jobs.work.gallery = outputs.galleryWriter
    holdUncovered()
    for warning in new.hosts.warnings { observe(.warning(warning)) }
    observe(.configured)
  }

  // MARK: The end

  private func beginToStop(_ now: Double, _ reason: Gate.Stop) {
    guard ending == nil else { return }
    ending = Ending(reason: reason, deadline: now + configuration.grace)
    observe(.stopping(isOutOfTime: reason == .outOfTime))
    jobs.stop(reason)
  }

  private func isOver(_ now: Double) -> Bool {
    guard let ending else { return jobs.runs.isEmpty && jobs.table.queue.isOver }
    let isBusy = jobs.table.isPlanning || !jobs.pending.inProgress.isEmpty
    return ending.isOver(isBusy: isBusy, isDelivered: jobs.isDelivered, now: now)
  }

  private func timeToWait(_ now: Double) -> Double {
    var wait = max(0, watcher.due - now)
    func wake(at due: Double?) {
      if let due { wait = min(wait, max(0, due - now)) }
    }
    func wake(at due: Int?) {
      if let due { wait = min(wait, Double(max(0, due - Clock.monotonicMilliseconds)) / 1000) }
    }
    wake(at: jobs.pending.room.nextPaceCheck)
    wake(at: outputs.due(jobs))
    if now < watchBegins { wake(at: now + Self.firstScanInterval) }
    if let ending { return min(wait, max(0.05, ending.deadline - now)) }
    wake(at: jobs.suspension.due)
    if jobs.table.queue.goal != .watch { wake(at: waitLimits.deadline) }
    wake(at: timeLimit)
    for due in jobs.nextDue where due > now { wake(at: due) }
    wake(at: jobs.flow.nextStart)
    return wait
  }
}
