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
  let watcher: InboxWatcher
  var mustReportUncovered = false
  let jobs: LiveJobs
  let outputs: StatusOutputs
  let notices: Notices
  let currentGrace: CurrentGrace
  let observe: (Event) -> Void

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
  var configuration: Configuration

  /// What of the configuration was lowered, a sentence each.
  private var lowered: [String]
  var waitLimits: WaitLimits

  var folders: OwnedFolders { services.folders }

  /// Why the inbox cannot be read now, and which errors were reported since it was last readable.
  var inboxErrors: (current: SystemError?, reported: Set<Int32>) = (nil, [])

  /// Why the program ends, and the deadline of operations, as `Clock.monotonicSeconds`; nil while it does not end.
  var ending: Ending?

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
    var configuration = configuration
    lowered = configuration.limit(byDescriptors: DescriptorLimit.current)
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
    for notice in [services.notice, services.earlier.notice].compactMap({ $0 }) { observe(.warning(notice)) }
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
    for warning in folders.warnings + lowered + configuration.hosts.warnings + certificates {
      observe(.warning(warning))
    }
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
      if let missing = try services.checkFolders() { throw missing }
      throw error
    }
    return summary
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
    jobs.update(services.limits, configuration, cache: services.cache, now: now)
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

  func writeStatus(_ now: Double, isLast: Bool = false, isLockWaitOver: Bool = false) {
    let error = outputs.write(
      jobs, notices.pending, ignored: watcher.ignored, open: watcher.open(for: 0, now: now),
      inboxError: inboxErrors.current?.description, now: now, isLast: isLast, isLockWaitOver: isLockWaitOver)
    if let error { observe(.warning("the file of --metrics cannot be written, and is tried again: \(error)")) }
  }

  func handle(_ message: Message, now: Double) throws {
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
  func gate(_ now: Double) -> Gate { Gate(jobs.suspension, stop: ending?.reason, now: now) }

  private func adopt(_ new: Configuration) {
    var new = new
    if (new.inbox, new.outbox, new.state) != (configuration.inbox, configuration.outbox, configuration.state) {
      observe(.warning("other folders are used only after a restart"))
    }
    (new.inbox, new.outbox, new.state) = (configuration.inbox, configuration.outbox, configuration.state)
    lowered = new.limit(byDescriptors: DescriptorLimit.current)
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
    for warning in lowered + new.hosts.warnings { observe(.warning(warning)) }
    observe(.configured)
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
