import Database
import Foundation
import Glibc
import Inbox
import JSON
import Ledger
import Manifests
import Model
import System

/// Reads the status of an instance or, when none runs, finds the work that the last one left. A user who may read only
/// the outbox gets the status that the instance has written.
package struct StatusReader {
  private let configuration: Configuration
  private let state: StateFolder
  private let outbox: OutboxFolder

  package init(configuration: Configuration) {
    self.configuration = configuration
    state = StateFolder(path: configuration.state)
    outbox = OutboxFolder(path: configuration.outbox)
  }

  /// - Parameter countsRows: Whether to count the rows of jobs that wait for the next start and, without an instance,
  ///   to find out which queued manifests are open for writing. Both take longer when there are more of them.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`; `StopError.missing` when this user may not read the status.
  package func read(countsRows: Bool = true) throws -> Status {
    let deadline = Clock.monotonicSeconds + Self.firstStatusTime
    while true {
      let written = try written()
      guard let process = try runningProcess(written) else {
        if let why = otherOutbox { return try readWithoutOutbox(why, countsRows: countsRows) }
        let status = try readStopped(written, countsRows: countsRows)
        // An instance that has just started may have the ledger open.
        if status.jobs_unknown != nil, Clock.monotonicSeconds < deadline, try runningProcess(self.written()) != nil {
          continue
        }
        return status
      }
      let isItsOwn = written?.process == process
      if isItsOwn && isOfRunningProcess(written) || Clock.monotonicSeconds >= deadline {
        var status = isItsOwn ? written ?? empty : left(by: written, before: process)
        (status.running, status.process) = (true, process)
        if !isOfRunningProcess(written) { (status.stopping, status.notices) = (nil, nil) }
        return status
      }
      usleep(10_000)
    }
  }

  /// How long to wait for the first status of an instance that has just started, in seconds. The ledger cannot be read
  /// then.
  private static let firstStatusTime = 1.0

  /// Whether the process that has written a status still runs: an instance that has just taken the lock has not replaced the
  /// process id of the one before it yet. The process of a container may not be visible here.
  private func isOfRunningProcess(_ written: Status?) -> Bool {
    guard let process = written?.process, let start = written?.process_start else { return false }
    return ProcessStart.isRunning(process, startedAt: start)
  }

  /// The work that an earlier instance left, while the current one has not written a status yet.
  private func left(by written: Status?, before process: Int) -> Status {
    var status = empty
    status.jobs = written?.jobs.map(\.stopped) ?? []
    status.jobs_unknown = "process \(process) has just begun"
    return status
  }

  /// Adds the jobs that have ended.
  /// - Parameter limit: The most jobs to add.
  package func addFinished(to status: inout Status, limit: Int) {
    let finished = FinishedJobs(outbox: configuration.outbox).latest(limit)
    // A status that was written before the report has a run that ended in between.
    let live = Set(status.jobs.map(\.run_id))
    let ended = finished.jobs.filter { !live.contains($0.run_id ?? "") }
    (status.finished, status.finished_total) = (ended, finished.total - (finished.jobs.count - ended.count))
  }

  /// The locks in the inbox, whether or not an instance runs.
  /// - Throws: `SystemError`.
  package static func pauses(inbox: String, lockFile: String?) throws -> [Status.Pause] {
    let inbox = try Inbox(path: inbox, extraLock: lockFile)
    return try pauses(inbox.scan(), in: inbox.folder)
  }

  /// The pauses for the locks of a scan. Without an instance, the time of the lock's file is used as its beginning.
  private static func pauses(_ scan: InboxScan, in inbox: OpenFolder) -> [Status.Pause] {
    scan.locks.map { lock in
      let status = lock.name.begins(with: "/") ? try? FileStatus(of: lock.name) : try? inbox.status(of: lock.name)
      let since = (status ?? nil).flatMap { JSONValue.time($0.identity.modified.milliseconds).string }
      return Status.Pause(cause: "lock", lock: lock.name, reason: lock.reason, since: since)
    }
  }

  private var empty: Status { Status(version: Tool.version, inbox: configuration.inbox, outbox: configuration.outbox) }

  // MARK: The written status

  /// The status that an instance wrote last; nil when there is none.
  /// - Throws: `StopError.missing`.
  private func written() throws -> Status? {
    var paths = [(outbox.path, OutboxFolder.hidden(OutboxFolder.statusName))]
    // Versions up to 0.1 wrote it into the state folder.
    if state.path != outbox.hidden { paths.append((state.path, OutboxFolder.statusName)) }
    for (folder, path) in paths {
      do {
        let file = try OpenFolder(searching: folder).open(reading: path)
        guard try file.status().kind == .file else { continue }
        let data = try file.readAll()
        if let status = try? JSONDecoder().decode(Status.self, from: data) { return status }
      } catch let error as SystemError where error.cause == .permission {
        guard mayReadState else {
          throw StopError.missing("what darkroom is doing is not for this user to read: \(error)")
        }
      } catch let error as SystemError where [.missing, .occupied].contains(error.cause) {
        continue
      }
    }
    return nil
  }

  /// The process of the instance and why it cannot read the inbox, as it has written; nil when it can, and when none runs.
  var inboxTrouble: (process: Int, why: String)? {
    guard let written = try? written(), let why = written.inbox_error, let process = try? runningProcess(written),
      process == written.process, isOfRunningProcess(written)
    else { return nil }
    return (process, why)
  }

  /// The process of the instance; nil when none runs.
  private func runningProcess(_ written: Status?) throws(SystemError) -> Int? {
    do throws(SystemError) {
      return try InstanceLock.holder(
        file: OutboxFolder.hidden(OutboxFolder.instanceName), beneath: outbox.path)
    } catch  where error.cause == .permission {
      // Only its owner can open the lock.
      return isOfRunningProcess(written) ? written?.process : nil
    }
  }

  /// Whether there is a ledger. A symbolic link to the state in the outbox is not followed.
  private var hasLedger: Bool {
    guard state.path == outbox.hidden else { return FileManager.default.fileExists(atPath: state.ledger) }
    let ledger = OutboxFolder.hidden(Folder.name(of: state.ledger))
    return (try? OpenFolder(searching: outbox.path).status(of: ledger)) != nil
  }

  /// Whether this user may read the ledger, or there is none.
  private var mayReadState: Bool { access(state.ledger, R_OK) == 0 || errno != EACCES }

  // MARK: Without the outbox

  /// Why the folder at the outbox's path is not the outbox that was used with the inbox; nil when it is, or when this
  /// user may not find out.
  private var otherOutbox: String? {
    KnownOutboxes.difference(inbox: configuration.inbox, outbox: outbox)
      .map { $0.question(of: outbox.path) + " Nothing is lost" }
  }

  /// The status from the inbox only.
  private func readWithoutOutbox(_ why: String, countsRows: Bool) throws -> Status {
    var status = try readStopped(nil, countsRows: countsRows, unknown: why)
    status.process = try? InstanceLock.holder(file: Inbox.instanceFile, beneath: configuration.inbox)
    status.running = status.process != nil
    return status
  }

  // MARK: Without an instance

  /// - Parameter unknown: Why it is unknown which jobs have not ended. Default: nil, that is found out.
  private func readStopped(_ written: Status?, countsRows: Bool, unknown: String? = nil) throws -> Status {
    var status = empty
    var live: [(runID: String, manifest: JobManifest)] = []
    if mayReadState {
      live = try addJobs(to: &status, written, countsRows: countsRows)
    } else {
      status.jobs_unknown = written?.jobs_unknown
    }
    let isFromLedger = mayReadState && status.jobs_unknown == nil
    if !isFromLedger { status.jobs = written?.jobs.map(\.stopped) ?? [] }
    if let unknown { status.jobs_unknown = unknown }
    guard let (scan, inbox) = try scan() else {
      if !isInboxMissing {
        (status.queued, status.queued_total) = (written?.queued ?? [], written?.queued_total ?? 0)
      }
      return status
    }
    let pauses = Self.pauses(scan, in: inbox.folder)
    if !pauses.isEmpty { (status.pauses, status.pauses_total) = (Array(pauses.prefix(Status.listLimit)), pauses.count) }
    status.ignored = scan.ignored.prefix(Status.listLimit).map { Status.Ignored($0) }
    status.ignored_total = scan.ignored.count
    let stuck = (written?.waits ?? []).filter { wait in
      scan.manifests.contains { $0.job.isIdentical(to: wait.job) && $0.identity.text == wait.manifest }
    }
    let waits = stuck + held(of: status.jobs, written)
    if !waits.isEmpty { (status.waits, status.waits_total) = (waits, waits.count) }
    let taken = Set(live.map(\.manifest.identity) + stuck.compactMap(\.manifest))
    // Without the ledger, the files of the jobs are unknown. The first manifest of a job's name is taken for its file.
    var names = Set(isFromLedger ? [] : status.jobs.map { ByteKey($0.job) })
    let queued = scan.manifests.filter { !taken.contains($0.identity.text) && names.remove(ByteKey($0.job)) == nil }
    status.queued = queued.prefix(Status.listLimit).map(\.file)
    status.queued_total = queued.count
    status.findQueuedBehind(
      replaceable: Set(live.lazy.map(\.manifest).filter { $0.inboxPath != nil }.map { ByteKey($0.file) }))
    findCancelled(in: &status, scan, inbox, live: live, queued: queued)
    if countsRows, !inbox.folder.isOnNetwork {
      let open = Set(queued.prefix(Status.listLimit).filter { inbox.writers(of: $0) == .somebody }.map(\.key))
      status.findQueuedOpen { open.contains(FileName($0)) }
    }
    return status
  }

  /// What was in the way of unfinished jobs when the last instance ended.
  private func held(of jobs: [Status.Job], _ written: Status?) -> [Status.Wait] {
    let names = Set(jobs.map { ByteKey($0.job) })
    return (written?.waits ?? []).filter { $0.manifest == nil && names.contains(ByteKey($0.job)) }
  }

  /// Records what the next start cancels.
  /// - Parameters:
  ///   - live: The runs that have not ended, with their manifests.
  ///   - queued: The manifests that are not jobs yet.
  private func findCancelled(
    in status: inout Status, _ scan: InboxScan, _ inbox: Inbox, live: [(runID: String, manifest: JobManifest)],
    queued: [InboxScan.Manifest]
  ) {
    // The next start goes on with what an earlier one had begun to cancel.
    for (index, job) in status.jobs.enumerated() where job.cancelled ?? 0 > 0 {
      status.jobs[index].state = "cancelling"
    }
    guard !scan.cancelled.isEmpty else { return }
    let manifests = Dictionary(live, uniquingKeysWith: { first, _ in first })
    func isAllowed(_ key: String, _ manifest: String?) -> Bool {
      CancelRequest.isAllowed(key, manifest: manifest, in: inbox.folder)
    }
    for (index, job) in status.jobs.enumerated() {
      let manifest = manifests[job.run_id]
      let file = manifest.flatMap { $0.inboxPath == nil ? nil : $0.file }
      let keys = manifest?.cancelKeys(of: job.run_id) ?? [job.run_id]
      guard keys.contains(where: { scan.cancelled.contains($0) && isAllowed($0, file) }) else { continue }
      status.jobs[index].state = "cancelling"
    }
    let cancelled = queued.prefix(Status.listLimit).filter {
      scan.cancelled.contains($0.cancelKey) && isAllowed($0.cancelKey, $0.file)
    }
    if !cancelled.isEmpty { status.queued_cancelled = cancelled.map(\.file) }
  }

  /// Scans the inbox; nil when this user may not read it, or there is none.
  private func scan() throws(SystemError) -> (InboxScan, Inbox)? {
    do throws(SystemError) {
      let inbox = try Inbox(path: configuration.inbox, extraLock: configuration.lockFile)
      return (try inbox.scan(), inbox)
    } catch  where [.permission, .missing].contains(error.cause) {
      return nil
    }
  }

  /// Whether there is no inbox, as while jobs are done in shards. One that this user may not see may be there.
  private var isInboxMissing: Bool {
    do throws(SystemError) {
      _ = try FileStatus(of: configuration.inbox)
      return false
    } catch {
      return error.cause == .missing
    }
  }

  /// Adds the jobs from the ledger.
  /// - Returns: Their runs and manifests.
  private func addJobs(
    to status: inout Status, _ written: Status?, countsRows: Bool
  ) throws -> [(runID: String, manifest: JobManifest)] {
    guard hasLedger else { return [] }
    let jobs: [LedgerJob]
    do {
      switch try LedgerReader.liveJobs(path: state.ledger) {
      case .unknown(let why):
        status.jobs_unknown = why
        return []
      case .jobs(let live): jobs = live
      }
    } catch let error as SQLiteError where error.isNoDatabase {
      status.jobs_unknown = LedgerError.damaged(path: state.ledger, why: "\(error)").description
      return []
    }
    let deferred = (try? LedgerReader.deferred(path: state.ledger)) ?? [:]
    let rows = countsRows && !jobs.isEmpty ? try? LedgerReader.rows(path: state.ledger) : nil
    let totals = Dictionary(written?.jobs.map { ($0.run_id, $0.total) } ?? [], uniquingKeysWith: { first, _ in first })
    status.jobs = jobs.map { job in
      var shown = Status.Job(waiting: job, deferred: deferred[job.runID])
      shown.total = totals[job.runID] ?? nil
      if let rows { shown.addCounts(rows[job.runID] ?? [:]) }
      return shown
    }
    // A job with an unreadable manifest is set aside at the next start.
    return jobs.compactMap { job in (try? JobManifest(text: job.details)).map { (job.runID, $0) } }
  }
}

extension Status.Job {
  /// A job that waits for the next start.
  fileprivate init(waiting job: LedgerJob, deferred: (count: Int, due: Int)?) {
    self.init(job: job.name, run_id: job.runID, state: "waiting")
    guard let deferred else { return }
    self.deferred = deferred.count
    if deferred.due > Clock.wallMilliseconds { deferred_until = JSONValue.time(deferred.due).string }
  }

  fileprivate mutating func addCounts(_ rows: [String: Int]) {
    filtered = rows["filtered", default: 0]
    failed = rows["failed", default: 0]
    cancelled = rows["cancelled", default: 0]
  }

  /// A job that an ended instance had written, in its current state.
  fileprivate var stopped: Status.Job {
    Status.Job(
      job: job, run_id: run_id, state: "waiting", total: total, filtered: filtered, failed: failed,
      cancelled: cancelled, deferred: deferred, deferred_until: deferred_until)
  }
}
