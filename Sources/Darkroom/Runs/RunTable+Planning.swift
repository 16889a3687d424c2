import Delivery
import Inbox
import Ledger
import Manifests
import Model
import Planning
import System
import Transfer

/// Runs from their manifest to the processing of their entries. A list of entries is downloaded like an entry, in the
/// same queue and with the same retries, pauses and limits. Then its run is planned again.
extension RunTable {
  mutating func accepted(
    _ run: JobRun, _ job: LedgerJob, _ manifest: JobManifest, _ context: Context
  ) -> [Effect] {
    var run = run
    run.accepted = (job, manifest)
    run.time = RunTime(now: context.milliseconds, paused: context.paused)
    run.bottlenecks = run.bottlenecks ?? BottleneckTime(now: context.milliseconds)
    run.known.sourceTransfers = manifest.transfers ?? Transfers()
    if let known = knownRuns.removeValue(forKey: job.runID) { run.known = known }
    runs[run.number] = run
    // If this run is accepted again, the file may belong to a later one.
    let isLast = !runs.values.contains { $0.order > run.order && $0.key == run.key }
    if isLast, manifest.inboxPath != nil { queue.ignore(manifest.file, identity: manifest.identity) }
    findRequest(for: run)
    return [.observe(.jobAccepted(job: job.name, file: manifest.file))]
  }

  /// As `JobQueue.queued`. Each manifest is either queued, until it is in the ledger, or the job of a run.
  func queued(limit: Int) -> (files: [String], total: Int) {
    queue.queued(beginning: inOrder.filter { $0.accepted == nil }.map(\.source), limit: limit)
  }

  /// How many of the queued were named as arguments; nil for none.
  var queuedNamed: Int? {
    let count = queue.named.count + inOrder.count { $0.accepted == nil && $0.source.named != nil }
    return count > 0 ? count : nil
  }

  /// Finds out whether cancelling a run was requested.
  mutating func findRequest(for run: JobRun) {
    guard run.known.unwanted == nil, !queue.cancelled.isEmpty, !queue.cancelled.isDisjoint(with: run.cancelKeys) else {
      return
    }
    runs[run.number]?.known.unwanted = .requested
  }

  /// Plans a live run again.
  /// - Parameter fetched: The list from its source, if it was just downloaded. Default: nil.
  mutating func planAgain(_ number: Int, _ job: LedgerJob, fetched: JobPlanner.Fetched? = nil) -> [Effect] {
    if let replaced = runs[number]?.replaces, runs[replaced] == nil { runs[number]?.replaces = nil }
    runs[number]?.phase = .planning(.manifest)
    let isReplacement = runs[number]?.replaces != nil
    return [
      .plan(
        run: number,
        .init(source: .unfinished(job), isReplacement: isReplacement, isAccepted: true, fetched: fetched))
    ]
  }

  mutating func planned(_ run: JobRun, _ result: JobPlanning.Result, _ context: Context) -> [Effect] {
    switch result {
    case .planned(let plan) where !context.gate.isStopping: return adopt(plan, for: run, context)
    case .planned, .cancelled:
      runs[run.number] = nil
      if context.gate.isStopping { stopped.append(run) }
    case .superseded(let runID):
      runs[run.number] = nil
      return [.ended(runID: runID)]
    case .notSettled:
      runs[run.number] = nil
      if case .dropped(let manifest) = run.source { queue.recheck(manifest) }
    case .setAside(let damaged):
      // Its manifest, if it is still in the inbox, is a new job.
      summary.hadTrouble = true
      if let manifest = run.accepted?.manifest { queue.forget(manifest) }
      return [.observe(.warning(damaged.description))] + remove(run.number)
    case .alreadyDone(let trouble):
      runs[run.number] = nil
      guard case .dropped(let manifest) = run.source else { return [] }
      queue.ignore(manifest.file, identity: manifest.identity.text)
      guard let trouble else { return [] }
      keepManifest(manifest.file, of: manifest.job, identity: manifest.identity.text, trouble)
      return [.observe(.warning("\(manifest.file) is done, and cannot be moved out of the inbox: \(trouble)"))]
    }
    return []
  }

  private mutating func adopt(_ plan: Plan, for run: JobRun, _ context: Context) -> [Effect] {
    var effects = plan.earlier.movedAway.map { Effect.observe(.movedAway($0, job: run.name)) }
    if !plan.findings.warnings.isEmpty, !run.isPlannedAgain {
      let (all, new) = (plan.findings.warnings, plan.findings.newWarnings)
      effects.append(.observe(.manifestDoubtful(job: run.name, all, new: new)))
    }
    switch plan.next {
    case .deliver(let report):
      runs[run.number]?.phase = .reporting(.init(plan: plan, outcome: report.outcome, report: report))
    case .finish(let outcome): runs[run.number]?.phase = .reporting(.init(plan: plan, outcome: outcome))
    case .reject: reject(run, plan, JobOutcome(rejected: plan.findings.problems, run, context))
    case .rejectSource(let failure): effects += rejectSource(of: run.number, plan, failure, context)
    case .fetch: runs[run.number]?.phase = .planning(.unlisted(plan))
    case .work:
      // An earlier process had begun to record what was cancelled. Without a request, that was for a removed manifest, which
      // may be back.
      if plan.tally.counts.cancelled > 0, run.known.unwanted == nil { runs[run.number]?.known.unwanted = .removed }
      runs[run.number]?.phase = .waiting(plan)
      effects += leaveToSame(run.number, context)
    }
    return effects
  }

  /// Ends a run whose manifest is rejected.
  mutating func reject(_ run: JobRun, _ plan: Plan, _ outcome: JobOutcome) {
    var (plan, outcome) = (plan, outcome)
    let waiting = queue.earlierRuns(than: run.order, of: run.name)
    let isReplacement = mayGoOn(run.replaces) || !waiting.isEmpty
    if isReplacement {
      // Nothing changes for the earlier runs, whose manifests are gone.
      let earlier = runs.values.filter { $0.key == run.key && $0.order < run.order }
      unknownRuns.formUnion(earlier.compactMap { $0.accepted?.job.runID } + waiting.map(\.runID))
      outcome.isRejectedReplacement = true
      plan.run = plan.run.inHistory
    }
    let hasPredecessor = run.replaces != nil && !isReplacement
    runs[run.number]?.phase = .reporting(.init(plan: plan, outcome: outcome, hasPredecessor: hasPredecessor))
  }

  /// Whether a run is live and not superseded.
  private func mayGoOn(_ number: Int?) -> Bool {
    switch number.flatMap({ runs[$0] })?.phase {
    case .closing(let closing): !closing.isSuperseded
    case .reporting(let reporting): reporting.outcome.state != .superseded
    case .planning, .waiting, .running: true
    case nil: false
    }
  }

  /// Begins the processing of a planned job's entries, or the download of its list.
  mutating func begin(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number] else { return [] }
    let entries: RunEntries
    let effects: [Effect]
    switch run.phase {
    case .planning(.unlisted(let plan)):
      entries = RunEntries(plan, activeTime: context.activeTime, now: context.now, hosts: run.known.hosts)
      runs[number]?.phase = .planning(.list(entries))
      let url = SourceLocation.redacted(plan.source?.urls[0] ?? "")
      effects = [.observe(.jobFetching(job: run.name, url: url))]
    case .waiting(let plan):
      entries = RunEntries(plan, activeTime: context.activeTime, now: context.now, hosts: run.known.hosts)
      runs[number]?.phase = .running(entries)
      effects = [
        .record(plan.start.names + [.advance(plan.run.runID, to: .running)]),
        .observe(
          .jobStarted(job: run.name, total: plan.total, ended: entries.began.ended, deferred: plan.start.deferred.count)
        ),
      ]
    case .planning, .running, .closing, .reporting: return []
    }
    runs[number]?.since = context.now
    return [.add(run: number, entries, run.known.sourceTransfers)] + effects
  }

  // MARK: Lists

  /// Ends a run whose source cannot be read.
  /// - Parameter attempts: The number of tries. Default: 1.
  mutating func rejectSource(
    of number: Int, _ plan: Plan, _ failure: EntryFailure, attempts: Int = 1, _ context: Context
  ) -> [Effect] {
    guard let run = runs[number] else { return [] }
    reject(run, plan, JobOutcome(sourceFailed: failure, attempts: attempts, run, context))
    return []
  }

  /// Ends the download of a run's source, and keeps its requests and holds.
  mutating func forgetSource(of number: Int, _ context: Context) -> [Effect] {
    runs[number]?.known.sourceTransfers = context.transfers(number)
    if let hosts = runs[number]?.entries?.hosts { runs[number]?.known.hosts = hosts }
    return [.removeEntries(run: number)]
  }
}

extension JobOutcome {
  /// The outcome of a job whose manifest has problems.
  fileprivate init(rejected problems: [ManifestProblem], _ run: JobRun, _ context: RunTable.Context) {
    self.init(
      withoutEntries: .rejected, run, context,
      problems: problems.map { Problem(code: $0.code.rawValue, message: $0.message, location: $0.location.description) }
    )
  }

  /// The outcome of a job whose source could not be downloaded.
  fileprivate init(
    sourceFailed failure: EntryFailure, attempts: Int, _ run: JobRun, _ context: RunTable.Context
  ) {
    let tries = attempts > 1 ? ", after \(attempts) tries" : ""
    let problem = Problem(
      code: ManifestProblem.Code.sourceFailed.rawValue,
      message: "the source cannot be read: \(failure.code.text): \(failure.message)\(tries)", location: "source",
      failure: SourceFailure(
        stage: failure.code.stage.rawValue, code: failure.code.text, message: failure.message,
        httpStatus: failure.httpStatus, isRetryable: failure.isRetryable))
    self.init(withoutEntries: .rejected, run, context, problems: [problem])
  }

  /// The outcome of a job whose entries are not known.
  init(withoutEntries state: State, _ run: JobRun, _ context: RunTable.Context, problems: [Problem] = []) {
    self.init(
      state: state, counts: Counts(), bytes: Bytes(), transfers: run.known.sourceTransfers, problems: problems,
      finished: context.wall, elapsed: run.elapsed(context))
  }
}
