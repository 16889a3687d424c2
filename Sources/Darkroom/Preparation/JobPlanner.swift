import Delivery
import Foundation
import Inbox
import JobIndex
import Ledger
import Manifests
import Model
import Operations
import Planning
import System
import Transfer

/// Accepts manifests and plans their jobs: the steps of `JobPlanning`.
struct JobPlanner: Sendable {
  /// The size in bytes up to which a manifest has its index in memory.
  static let memoryLimit = 256 << 10

  let inbox: Inbox
  let outbox: OutboxFolder
  let staging: OpenFolder
  let state: StateFolder
  let ledger: Ledger
  let delivery: DeliveryQueue
  let indexes: JobIndexPool
  let configuration: Configuration
  let runNames: RunNames

  /// The journal of what may crash the program: suspects, and manifests; nil when there is none.
  var journal: FiltrationJournal?

  // MARK: Acceptance

  /// - Parameter pauses: The current pauses.
  private func acceptance(during pauses: [LedgerPause]) -> Acceptance {
    Acceptance(
      state: state, configuration: configuration,
      nameRun: { [ledger, outbox, runNames] job in
        try runNames.make { try ledger.runs(ofJob: job) + History(folder: outbox.job(job)).runs }
      }
    ) { [delivery] job, manifest in
      try delivery.accept(job, during: pauses.map { $0.clipped(to: manifest.accepted) })
    }
  }

  /// Accepts a manifest of the inbox.
  /// - Returns: nil when it was changed or removed.
  /// - Throws: The errors of `Acceptance.accept`.
  func accept(
    _ manifest: InboxScan.Manifest, during pauses: [LedgerPause], isCancelled: () -> Bool = { false }
  ) throws -> LedgerJob? {
    guard let format = ManifestFileName(manifest.file)?.format else { return nil }
    return try acceptance(during: pauses).accept(
      path: inbox.file(manifest.file), in: inbox.folder, job: manifest.job, format: format.name, as: manifest.identity,
      isCancelled: isCancelled)
  }

  /// Accepts a named file. It is not moved, unless it is in the inbox.
  /// - Throws: `StopError.missing` when it was changed or removed; the errors of `Acceptance.accept`.
  func accept(
    _ file: NamedManifest, during pauses: [LedgerPause], isCancelled: () -> Bool = { false }
  ) throws -> LedgerJob {
    let accepted = try acceptance(during: pauses).accept(
      path: file.path, called: file.file, in: file.isInInbox ? inbox.folder : nil, job: file.job, format: file.format,
      isCancelled: isCancelled)
    guard let accepted else { throw StopError.missing("\(file.description): it is being written, or went away") }
    return accepted
  }

  /// Removes a manifest whose job has ended.
  /// - Returns: nil when its job has not ended.
  func removeIfDone(_ manifest: InboxScan.Manifest) -> JobPlanning.Result? {
    guard let ended = try? ledger.lastEnded(job: manifest.job), let known = try? JobManifest(text: ended.details),
      known.file == manifest.file, known.identity == manifest.identity.text, known.tooLarge == nil
    else { return nil }
    do {
      try ManifestRemoval.remove(inbox.file(manifest.file), identity: manifest.identity.text)
      return .alreadyDone(trouble: nil)
    } catch {
      return .alreadyDone(trouble: "\(error)")
    }
  }

  // MARK: Planning

  /// Reads the manifest of an accepted job.
  /// - Throws: `DamagedJob`.
  func manifest(of job: LedgerJob) throws -> JobManifest { try DamagedJobs.manifest(of: job) }

  /// Sets an unreadable job aside.
  /// - Throws: `SystemError`, `SQLiteError`.
  func setAside(_ damaged: DamagedJob) throws -> DamagedJob {
    var damaged = damaged
    damaged.folder = try DamagedJobs(state: state, outbox: outbox, ledger: ledger).setAside(damaged)
    return damaged
  }

  /// Plans an accepted job. For a job of an earlier process, finds out which of its entries have ended.
  /// - Parameters:
  ///   - number: The run's number in this process.
  ///   - isResumed: Whether the job was left by an earlier process.
  ///   - isReplacement: Whether it will replace a live run of its job.
  ///   - isUnwanted: Whether it is planned only to be cancelled: what cannot be delivered fails.
  ///   - listed: Called when the listing of a folder is in the ledger.
  /// - Throws: `FolderObstacle`, `SystemError`, `SQLiteError`, `SpaceNeeded`; `DamagedJob` when a job of an earlier
  ///   process cannot be read; `CancellationError` soon after `isCancelled` returns true.
  func plan(
    _ job: LedgerJob, _ manifest: JobManifest, number: Int, isResumed: Bool, isReplacement: Bool = false,
    isUnwanted: Bool = false, isCancelled: @escaping () -> Bool,
    listed: @escaping (LedgerJob, JobManifest) -> Void = { _, _ in }
  ) throws -> Plan {
    var task = try task(
      job, manifest, number: number, isResumed: isResumed, isReplacement: isReplacement, isCancelled: isCancelled)
    task.isUnwanted = isUnwanted
    task.listed = listed
    // Nothing must be created when the outbox is not mounted.
    try task.run.staging.checkPresence()
    var unsynced: [String] = []
    do {
      return try plan(task, &unsynced)
    } catch {
      // The folders are synced for the next try, and the files are removed, since a full disk must not become fuller.
      delivery.record([], syncing: unsynced)
      state.removeIndex(job.runID)
      task.run.staging.remove(task.run.staging.document("entries.jsonl"))
      guard isResumed, error.isOfUnreadableRecord else { throw error }
      throw DamagedJob(job: job, why: "\(error)")
    }
  }

  /// - Throws: `DamagedJob`.
  func task(
    _ job: LedgerJob, _ manifest: JobManifest, number: Int, isResumed: Bool, isReplacement: Bool,
    isCancelled: @escaping () -> Bool
  ) throws -> Task {
    guard let format = ManifestFormats.all.first(where: { $0.name == manifest.format }) else {
      throw DamagedJob(job: job, why: "its format is \(manifest.format), which this version does not know")
    }
    let run = RunContext(
      number: number, runID: job.runID, folder: outbox.job(job.name),
      staging: Staging(folder: staging.path, runID: job.runID, handle: staging),
      accepted: manifest.chain?.accepted ?? manifest.accepted, firstRunID: manifest.chain?.runID,
      isRefreshing: manifest.refresh == true, user: manifest.owner, mayReadFiles: manifest.list?.isFromServer != true)
    let snapshot = state.snapshot(job.runID, extension: manifest.fileExtension)
    let source = Planner(
      format: format, file: ManifestFile(path: snapshot), list: try list(of: job, manifest),
      defaults: try manifest.defaults)
    return Task(
      job: job, run: run, manifest: manifest, planner: source, snapshot: snapshot, isResumed: isResumed,
      isReplacement: isReplacement, isCancelled: isCancelled)
  }

  /// - Parameter unsynced: Receives the folders to which names were added, also when an error is thrown.
  private func plan(_ task: Task, _ unsynced: inout [String]) throws -> Plan {
    var task = task
    let job = task.job
    let later = task.isResumed ? try ledger.laterRuns(than: job.runID, job: job.name) : []
    let isSuperseded = later.contains { $0.supersedes(task.manifest) }
    if let outcome = try job.outcome.map(JobOutcome.init), !isSuperseded,
      outcome.isRejectedReplacement == true || outcome.state == .superseded
    {
      task.run = task.run.inHistory
    }
    // The report of a superseded run has not been delivered while one of its documents is in staging.
    if let report = try ReportDelivery(recorded: job, run: task.run, manifest: task.manifest),
      try !isSuperseded || report.isPlaced()
    {
      return try plan(job, report)
    }
    if task.isResumed { try checkFiles(of: task) }
    if !job.documents.isEmpty {
      // They are written again. After that, a missing staged document does not mean that it was delivered.
      (task.job.state, task.job.documents) = (.running, [])
      try ledger.commit([.advance(job.runID, to: .running, documents: [])])
    }
    if isSuperseded { return try planSuperseded(task, by: later) }
    let folder = try task.run.folder.prepare(changed: &unsynced)
    return try plan(task, in: folder, unsynced)
  }

  /// A job to plan.
  struct Task {
    var job: LedgerJob
    var run: RunContext
    let manifest: JobManifest
    let planner: Planner
    let snapshot: String
    let isResumed: Bool
    var isReplacement = false
    var isUnwanted = false
    let isCancelled: () -> Bool
    var listed: (LedgerJob, JobManifest) -> Void = { _, _ in }
  }

  /// Checks that the snapshot and list of an earlier process are unchanged.
  /// - Throws: `DamagedJob`, `SystemError`.
  func checkFiles(of task: Task) throws {
    try check(task.snapshot, task.manifest.sha256, of: task.job, task.manifest)
    if let list = task.manifest.list { try check(state.list(task.job.runID), list.sha256, of: task.job, task.manifest) }
  }

  /// Checks that a snapshot or list of an earlier process is unchanged.
  /// - Throws: `DamagedJob`, `SystemError`.
  private func check(_ snapshot: String, _ sha256: String, of job: LedgerJob, _ manifest: JobManifest) throws {
    guard manifest.tooLarge == nil else { return }
    do throws(SystemError) {
      let file = try state.openJobs().open(reading: Folder.name(of: snapshot))
      guard try file.status().kind == .file,
        try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: snapshot) == sha256
      else { throw SystemError("the snapshot is not what was accepted", snapshot, code: EINVAL) }
    } catch  where !error.cause.isOfMachine {
      throw DamagedJob(job: job, why: error.description)
    }
  }

  private func plan(_ task: Task, in folder: OpenFolder, _ unsynced: [String]) throws -> Plan {
    var job = task.job
    let manifest = task.manifest
    var run = task.run
    // A job without an images folder has no results.
    run.mayFindFiles =
      try run.folder.pictures == nil
      ? unsynced.isEmpty && folder.status(of: "images") != nil : run.folder.status(of: "images") != nil
    let lastRun = try ledger.lastRun(job: job.name)
    var earlier = Plan.EarlierRuns(
      isNone: lastRun == nil, hasOutputs: try ledger.hasOutputs(job: job.name),
      hasFailures: try lastRun.map(ledger.hasFailures) ?? false)
    let names = try namedRun(for: task)
    let index: JobIndex
    var findings: ManifestFindings
    (index, findings) = try makeIndex(task, isInMemory: !earlier.hasOutputs && !earlier.hasFailures, lastNames: names)
    findings.warnings += manifest.list?.manifestWarnings ?? []
    let mayWarn = !findings.warnings.isEmpty || configuration.prune && earlier.hasOutputs
    let reported = mayWarn ? reportedWarnings(of: lastRun, in: run.folder) : []
    earlier.wasNotPruned = reported.contains(where: ReportWarning.isNotPruned)
    if configuration.shared != nil, job.state == .accepted, findings.problems.isEmpty {
      let rows = EarlierRows(run: run, ledger: ledger, index: index)
      // What `take` commits at its end tells that both have been done.
      if try rows.recall(in: configuration.outbox) { earlier.hasOutputs = true }
      try rows.take(for: &job)
    }
    if job.state == .accepted, unsynced.isEmpty, !task.isReplacement {
      let hasEarlierRun = try !earlier.isNone || earlier.hasOutputs || ledger.lastEnded(job: job.name) != nil
      earlier.movedAway = try History(folder: run.folder).putAside(hasEarlierRun: hasEarlierRun)
    }
    let isAccepted = findings.problems.isEmpty
    if isAccepted, let source = findings.source {
      let plan = try planSource(source, task, run, index, findings, movedAway: earlier.movedAway, unsynced)
      return plan.source == nil ? plan : try planFolder(findings.folder, in: folder, task, plan, unsynced)
    }
    let changedNames = isAccepted ? try namesToRecord(of: index, task, takenFrom: names) : []
    if lastRun != nil, let warning = otherManifest(than: manifest, of: job) { findings.warnings.append(warning) }
    if earlier.hasFailures, let lastRun { try copyFailures(of: lastRun, to: index) }
    if task.isReplacement { try index.prepareNames() }
    let total = try index.count()
    let sources = SourceCounts(total: total)
    let recovery = Recovery(
      run: run, ledger: ledger, index: index, hasFailures: earlier.hasFailures, sources: sources,
      givesUp: task.isUnwanted)
    let (tally, movedAway) = try job.state == .accepted ? (JobTally(), nil) : recovery.recover()
    if let movedAway { earlier.movedAway.append(movedAway) }
    if earlier.hasOutputs { try copyOutputs(of: job, to: index) }
    var start = isAccepted ? try self.start(of: job, run, index, isReplacement: task.isReplacement) : Plan.Start()
    start.names = changedNames
    if isAccepted, !task.isReplacement {
      // Creates the log, so that users can follow it from the beginning.
      _ = try folder.open(appending: Folder.name(of: run.folder.entriesLog))
    }
    findings.newWarnings = findings.warnings.filter { ManifestWarning.isNew($0.message, after: reported) }
    return Plan(
      job: job, run: run, manifest: manifest, index: index, total: total,
      next: try finishing(job) ?? (isAccepted ? .work : .reject), findings: findings, earlier: earlier,
      sources: sources,
      tally: tally, start: start, pauses: try pauses(of: task), unsynced: unsynced)
  }

  /// Plans the files of folders as entries.
  /// - Parameters:
  ///   - source: The folders; nil for another kind of list.
  ///   - plan: The plan that fetches the list, which is returned when there are no folders to list.
  private func planFolder(
    _ source: FolderSource?, in folder: OpenFolder, _ task: Task, _ plan: Plan, _ unsynced: [String]
  ) throws -> Plan {
    var plan = plan
    do {
      if let source, let listed = try listFolder(source, task) { return try self.plan(listed, in: folder, unsynced) }
    } catch let error as TransferError {
      plan.next = .rejectSource(EntryFailure(error))
    }
    return plan
  }

  /// How the entries of a run begin. Those that are not simply pending are taken out of the index's order.
  private func start(of job: LedgerJob, _ run: RunContext, _ index: JobIndex, isReplacement: Bool) throws -> Plan.Start
  {
    var start = Plan.Start()
    start.suspects = try journal?.suspects(of: run.runID).filter { try index.take($0, as: .suspect) } ?? []
    // A replacement is planned again when the live run has ended.
    if isReplacement { return start }
    start.heldVariants = try index.holdVariants()
    start.dependencies = try index.holdDependents(isResumed: job.state != .accepted)
    if job.state == .running { start.deferred = try deferredEntries(of: run, index) }
    try index.prepareHosts()
    return start
  }

  /// Ends a job that an earlier process was ending; nil for others.
  func finishing(_ job: LedgerJob) throws -> Plan.Next? {
    job.state == .finishing ? .finish(try JobOutcome(text: job.outcome ?? "")) : nil
  }

  /// The pauses of earlier processes.
  func pauses(of task: Task) throws -> [LedgerPause] {
    task.isResumed ? try ledger.pauses(run: task.job.runID) : []
  }

  /// The messages of the warnings in the report of the job's last run. A job with a source is planned more than once, and its
  /// last report is in `history` from the second time on.
  private func reportedWarnings(of run: String?, in folder: JobFolder) -> Set<String> {
    guard let run else { return [] }
    let report = (try? folder.open(file: "report.json")) ?? (try? folder.open(file: "history/\(run)/report.json"))
    return report.flatMap { try? ReportHead(of: $0) }?.warnings ?? []
  }

  /// The warning for a last run with a manifest of another format, since the user may have meant two jobs.
  private func otherManifest(than manifest: JobManifest, of job: LedgerJob) -> ManifestWarning? {
    guard let ended = try? ledger.lastEnded(job: job.name), let last = try? JobManifest(text: ended.details),
      last.format != manifest.format, !(manifest.isStandardInput && last.isStandardInput)
    else { return nil }
    return ManifestWarning(
      .otherManifest,
      "the last run of job \(job.name) was of \(last.file): \(manifest.file) is the same job, and its report and results "
        + "take the place of that one's", at: .file)
  }

  /// The plan of a job whose report only remains to be delivered.
  private func plan(_ job: LedgerJob, _ report: ReportDelivery) throws -> Plan {
    Plan(
      job: job, run: report.run, manifest: report.manifest, index: try indexes.take(),
      total: report.outcome.counts.total, next: .deliver(report), sources: SourceCounts(total: 0))
  }

  private func copyFailures(of runID: String, to index: JobIndex) throws {
    try index.prepareFailures()
    try ledger.eachFailurePage(run: runID) { page in
      try index.fill { for failure in page { try index.insert(failure) } }
    }
  }

  private func copyOutputs(of job: LedgerJob, to index: JobIndex) throws {
    try index.prepareOutputs()
    try ledger.eachOutputPage(job: job.name) { page in
      try index.fill { for output in page { try index.insert(output) } }
    }
  }
}

extension JobManifest {
  /// Whether it came from standard input, and had no other name.
  fileprivate var isStandardInput: Bool { inboxPath == nil && file.hasPrefix(StandardInputManifest.job + ".") }
}
