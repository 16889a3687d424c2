import Foundation
import Glibc
import Inbox
import JSON
import Ledger
import Model
import Operations
import System

/// Writes `status.json`, for `darkroom status` and scripts. All users who may read the outbox may read it, unlike the
/// ledger, so it contains no URLs. Used on the thread of `Darkroom`.
final class StatusWriter {
  private let folder: OpenFolder
  private let inbox: String
  private let outbox: String
  private let start = ProcessStart.of(Int(getpid()))
  private var next = 0.0

  /// The least time between two statuses that are not urgent, in seconds; more when writing one takes more than a tenth of it. Default:
  /// 1.
  var interval = 1.0

  /// When a delayed change may be written, as `Clock.monotonicSeconds`; nil when there is none.
  private(set) var due: Double?

  /// The status that was written last; nil before the first.
  private(set) var last: Status?
  private var lastStages: [Int: JobRun.Stage] = [:]

  /// The jobs of the last status with their rows, by run: what is known of those that wait to be live again.
  private var lastKnown: [String: Status.Job] = [:]

  /// - Parameter hasEarlierJobs: Whether there are jobs of an earlier process, of which the file tells.
  init(_ folders: OwnedFolders, hasEarlierJobs: Bool) {
    (folder, inbox, outbox) = (folders.hidden, folders.inbox.path, folders.outbox.path)
    guard hasEarlierJobs, let data = try? folder.open(reading: OutboxFolder.statusName).readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data)
    else { return }
    lastKnown = Dictionary(status.jobs.map { ($0.run_id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Writes the status if it has changed: immediately when one of a few live jobs enters another phase, when the queues pause or go on,
  /// when the program begins to stop, when there are notices or no more, or when a live job is neither in the inbox nor in the file, so
  /// that `wait` finds it; otherwise at most once per `interval`.
  /// - Parameters:
  ///   - notices: What is left to do for ended runs.
  ///   - open: The manifests that a process has open for writing.
  ///   - inboxError: Why the inbox cannot be read; nil when it can.
  ///   - isLockWaitOver: Whether the process ends because of `--lock-wait`.
  ///   - isLast: Whether to write a change immediately, because the process ends.
  /// - Returns: Whether it has changed.
  func write(
    _ jobs: LiveJobs, _ notices: Status.Notices?, ignored: [InboxScan.Ignored], open: Set<FileName>,
    inboxError: String?, now: Double,
    isLast: Bool = false, isLockWaitOver: Bool = false
  ) -> Bool {
    let stages = jobs.runs.mapValues(\.stage)
    let isUrgent =
      stages.count <= Self.few && stages != lastStages || jobs.flow.gate.isStopping && last?.stopping != true
      || jobs.suspension.pauses.isPaused != (last?.pauses.isEmpty == false)
      || (notices == nil) != (last?.notices == nil) || jobs.runs.values.contains(where: isMissing)
    guard now >= next || isUrgent || isLast else {
      due = next
      return false
    }
    due = nil
    lastStages = stages
    defer { next = now + max(interval, 10 * (Clock.monotonicSeconds - now)) }
    var status = status(of: jobs, ignored: ignored, open: open)
    (status.inbox_error, status.notices) = (inboxError, notices)
    if isLockWaitOver { status.lock_wait_over = true }
    guard status != last else {
      // If the program is killed during a pause, the pause counts until the file's last modification.
      if !status.pauses.isEmpty, !status.jobs.isEmpty { folder.touch(OutboxFolder.statusName) }
      return false
    }
    last = status
    var dated = status
    dated.updated_at = JSONValue.time(Clock.wallMilliseconds).string
    // An unwritable status does not stop the program.
    try? folder.replace(OutboxFolder.statusName, with: dated.text + "\n", mode: 0o644)
    return true
  }

  private static let few = 4

  private func isMissing(_ run: JobRun) -> Bool {
    guard let (job, manifest) = run.accepted, manifest.inboxPath == nil || run.known.unwanted != nil else {
      return false
    }
    return last?.jobs.contains { $0.run_id == job.runID } != true
  }

  /// A job that is not live. Its rows are those of the last status: more of them may be in the ledger after a crash.
  private func waiting(_ job: LedgerJob, state: String) -> Status.Job {
    let known = lastKnown[job.runID]
    return Status.Job(
      job: job.name, run_id: job.runID, state: state, total: known?.total, filtered: known?.filtered,
      failed: known?.failed, cancelled: known?.cancelled)
  }

  private func status(of jobs: LiveJobs, ignored: [InboxScan.Ignored], open: Set<FileName>) -> Status {
    var status = Status(version: Tool.version, inbox: inbox, outbox: outbox)
    status.running = true
    status.process = Int(getpid())
    status.process_start = start
    if jobs.flow.gate.isStopping { status.stopping = true }
    let goesOn = !jobs.suspension.pauses.isPaused && !jobs.flow.gate.isStopping
    let active = goesOn ? jobs.suspension.activity.now(Clock.monotonicMilliseconds) : nil
    status.jobs = jobs.table.inOrder.compactMap { Status.Job($0, jobs.scheduler, active: active) }
    status.jobs += (jobs.table.queue.unfinished + jobs.table.queue.left.jobs).map {
      waiting($0, state: jobs.table.queue.isCancelled($0) ? "cancelling" : "waiting")
    }
    // Runs whose planning ended because the program stops.
    status.jobs += jobs.table.stopped.compactMap(\.accepted).map { waiting($0.job, state: "waiting") }
    // While a job is planned again its rows are not known.
    let rows = status.jobs.map { ($0.run_id, $0.total == nil ? lastKnown[$0.run_id] ?? $0 : $0) }
    lastKnown = Dictionary(rows, uniquingKeysWith: { first, _ in first })
    let waits = jobs.table.waits(jobs.flow.holds)
    if !waits.isEmpty {
      status.waits = Array(waits.prefix(Status.listLimit))
      status.waits_total = waits.count
    }
    (status.queued, status.queued_total) = jobs.table.queued(limit: Status.listLimit)
    status.queued_named = jobs.table.queuedNamed
    let replaceable = Set(jobs.runs.values.compactMap(\.replaceableFile).map(ByteKey.init))
    status.addQueuedForNextStart(jobs.table.queue.queuedForNextStart(limit: Status.listLimit), replaceable: replaceable)
    status.queued_cancelled = jobs.table.queue.queuedCancelled(limit: Status.listLimit)
    status.findQueuedOpen { open.contains(FileName($0)) }
    status.queues = jobs.pending.status
    status.queues?.download.waiting += jobs.flow.unstarted
    status.addOperations(of: jobs.pending)
    status.workers = jobs.pending.decoding.pool.status
    status.addClosedHosts(jobs.scheduler)
    let ruled = jobs.scheduler.ruledHosts(limit: Status.hostLimit)
    if ruled.total > 0 {
      status.ruled_hosts = ruled.hosts.map { Status.RuledHost(host: $0.name, rules: $0.patterns) }
      status.ruled_hosts_total = ruled.total
    }
    status.add(jobs.suspension.pauses.open(since: 0))
    status.ignored = ignored.prefix(Status.listLimit).map { Status.Ignored($0) }.sorted { $0.file < $1.file }
    status.ignored_total = ignored.count
    return status
  }
}

extension Status {
  /// Adds the pauses that hold now. Of too many, those that began first are listed.
  mutating func add(_ open: [LedgerPause]) {
    guard !open.isEmpty else { return }
    let listed =
      open.count > Status.listLimit
      ? open.sorted { ($0.began, $0.lock) < ($1.began, $1.lock) }.prefix(Status.listLimit) : open[...]
    pauses = listed.map {
      Pause(
        cause: $0.cause, lock: $0.lock.isEmpty ? nil : $0.lock, reason: $0.reason,
        since: JSONValue.time($0.began).string)
    }
    pauses_total = open.count
  }

  fileprivate mutating func addClosedHosts(_ scheduler: EntryScheduler) {
    let closed = scheduler.hosts.closedHosts
    guard !closed.isEmpty else { return }
    let began = Clock.wallMilliseconds - Clock.monotonicMilliseconds
    closed_hosts = closed.prefix(Status.hostLimit).map { host, closed in
      // Rounded to seconds, so that the text stays the same.
      ClosedHost(
        host: scheduler.shownName(of: host), cause: closed.failure.text,
        since: JSONValue.time((began + closed.since) / 1000 * 1000).string ?? "")
    }
    closed_hosts_total = closed.count
  }
}

extension Status.Job {
  /// A live job; nil until it is in the ledger. A job of an earlier process is in it from the start.
  /// - Parameter active: Milliseconds of the clock that stops during pauses; nil during a pause, and while the program stops.
  fileprivate init?(_ run: JobRun, _ scheduler: EntryScheduler, active: Int?) {
    var unfinished: LedgerJob?
    if case .unfinished(let job) = run.source { unfinished = job }
    guard let runID = (run.accepted?.job ?? unfinished)?.runID else { return nil }
    switch run.phase {
    case .planning(.manifest): self.init(job: run.name, run_id: runID, state: "planning")
    case .planning(.unlisted), .planning(.list):
      self.init(
        job: run.name, run_id: runID, state: "fetching", transfers: scheduler.transfers(run: run.number))
      addHeldHosts(run, scheduler)
      addDeferred(run, scheduler)
    case .waiting(let plan): self.init(job: run.name, run_id: runID, state: "waiting", total: plan.total)
    case .running(let running):
      let counts = running.tally.counts
      self.init(
        job: run.name, run_id: runID, state: "running", total: running.plan.total, filtered: counts.filtered,
        failed: counts.failed, cancelled: counts.cancelled, retrying: scheduler.waitingRetries(run: run.number),
        transfers: scheduler.transfers(run: run.number))
      let others = scheduler.waitingForOthers(run: run.number)
      if others > 0 { waiting_for_others = others }
      addHeldHosts(run, scheduler)
      addDeferred(run, scheduler)
      if !scheduler.hosts.isCutOff(job: run.number) { addRate(running, active: active) }
    case .closing(let closing) where closing.entries.isSource:
      // Its entries are not known.
      let state = closing.isSuperseded ? "replaced" : "cancelling"
      self.init(job: run.name, run_id: runID, state: state, transfers: scheduler.transfers(run: run.number))
    case .closing(let closing):
      let (plan, counts) = (closing.entries.plan, closing.entries.tally.counts)
      let state = closing.isSuperseded ? "replaced" : "cancelling"
      self.init(
        job: run.name, run_id: runID, state: state, total: plan.total, filtered: counts.filtered,
        failed: counts.failed, cancelled: counts.cancelled, transfers: scheduler.transfers(run: run.number))
    case .reporting(let reporting):
      let counts = reporting.outcome.counts
      let state = reporting.outcome.state == .superseded ? "replaced" : "finishing"
      self.init(
        job: run.name, run_id: runID, state: state, total: counts.total, filtered: counts.filtered,
        failed: counts.failed, cancelled: counts.cancelled, transfers: reporting.outcome.transfers)
    }
    if !["replaced", "finishing"].contains(state) { bounded_by_now = run.bottlenecks?.last }
    if run.known.unwanted != nil, !["replaced", "finishing"].contains(state) { state = "cancelling" }
  }

  private mutating func addHeldHosts(_ run: JobRun, _ scheduler: EntryScheduler) {
    let now = Clock.monotonicMilliseconds
    let held = scheduler.heldHosts(run: run.number, now: now, limit: Status.hostLimit)
    guard held.total > 0 else { return }
    held_hosts = held.hosts.map { host in
      // Rounded to seconds, so that the text stays the same.
      let until = (Clock.wallMilliseconds + host.until - now + 999) / 1000 * 1000
      return Status.HeldHost(host: host.name, until: JSONValue.time(until).string ?? "")
    }
    held_hosts_total = held.total
  }

  private mutating func addDeferred(_ run: JobRun, _ scheduler: EntryScheduler) {
    let (count, nextDue) = scheduler.deferred(run: run.number)
    guard count > 0 else { return }
    deferred = count
    let wait = (nextDue ?? 0) - Clock.monotonicMilliseconds
    // Rounded to seconds, so that the text stays the same.
    if wait > 0 { deferred_until = JSONValue.time((Clock.wallMilliseconds + wait + 999) / 1000 * 1000).string }
  }

  private mutating func addRate(_ running: RunEntries, active: Int?) {
    // A rate from before a hold or a pause does not predict its end.
    guard held_hosts == nil, let active else { return }
    let ended = running.tally.counts.total
    let rate = Double(ended - running.began.ended) * 1000 / Double(max(1, active - running.began.milliseconds))
    guard rate > 0 else { return }
    self.rate = (rate * 10).rounded() / 10
    let left = running.plan.total - ended - (deferred ?? 0)
    // Deferred entries take an unknown time.
    if left > 0 || deferred == nil { seconds_left = (Double(left) / rate).rounded() }
  }
}

extension JobRun {
  /// The name of its manifest, if another file of that name replaces it; nil when the run is ending, or its manifest is
  /// elsewhere.
  fileprivate var replaceableFile: String? {
    known.unwanted == nil && isUnfinished && stage != .done ? file?.text : nil
  }
}
