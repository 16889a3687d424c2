import Dispatch
import Foundation
import Ledger
import Manifests
import Scheduling
import System
import Transfer

/// The jobs that are live, from the start of their planning to the end of their report. It belongs to the thread of
/// `Darkroom`: what threads of its own do comes back as a message (`BackgroundWork`).
///
/// What goes wrong with one job is reported, and the others go on; want of space and failures of the machine are waited out.
final class LiveJobs {
  /// What jobs came to.
  struct Summary: Sendable {
    /// How jobs ended; one whose failures are accepted has succeeded.
    var states: Set<JobOutcome.State> = []
    /// Whether a job could not be worked on, or its manifest not be moved.
    var hadTrouble = false
    /// Whether a manifest that was named is not there, or cannot be read.
    var isMissing = false
    /// Whether a manifest was left for the next start because somebody had it open for writing.
    var hasLeftOpen = false
  }

  var queue: JobQueue
  var runs: [Int: JobRun] = [:]
  var summary = Summary()
  let flow: EntryFlow
  let delivery: DeliveryQueue
  let suspension: Suspension
  let work: BackgroundWork
  let observe: (Event) -> Void
  let runEnded: (String) -> Void

  /// What keeps the ledger small; nil: nothing does.
  var retention: LedgerRetention?

  /// When the last process showed a sign of life, in milliseconds since 1970: it wrote to the ledger, or dated the status.
  let lastActive: Int
  private var lastNumber = 0

  /// The runs whose manifests are missing in the inbox.
  var missing = MissingFiles()

  /// Runs of earlier processes from an inbox that need not be this one: that their manifests are missing says nothing.
  var unknownRuns: Set<String> = []

  /// What is known of runs that are not live because they wait to be planned again.
  var knownRuns: [String: JobRun.Known] = [:]

  /// What waits for better times.
  var holds: Holds {
    get { flow.holds }
    set { flow.holds = newValue }
  }

  /// What may start now.
  var gate: Gate {
    get { flow.gate }
    set { flow.gate = newValue }
  }
  var isStopping: Bool { gate.isStopping }

  /// When the bottlenecks of the runs are sampled.
  var sampleClock = SampleClock(now: Clock.monotonicMilliseconds)

  /// Whether the outbox's file system has taken the permissions of all manifests.
  private var isAccessKnown = true

  init(
    queue: JobQueue, pending: PendingOperations, delivery: DeliveryQueue, suspension: Suspension,
    planner: JobPlanner, lastActive: Int, observe: @escaping (Event) -> Void,
    runEnded: @escaping (String) -> Void = { _ in }, send: @escaping @Sendable (BackgroundWork.Message) -> Void
  ) {
    self.queue = queue
    flow = EntryFlow(
      pending: pending, delivery: delivery, suspension: suspension, state: planner.state, observe: observe)
    self.delivery = delivery
    self.suspension = suspension
    work = BackgroundWork(planner: planner, delivery: delivery, send: send)
    self.lastActive = lastActive
    self.observe = observe
    self.runEnded = runEnded
  }

  var scheduler: EntryScheduler { flow.scheduler }
  var pending: PendingOperations { flow.pending }
  var planner: JobPlanner { work.planner }

  /// Milliseconds of a clock that stands still during pauses.
  var activeTime: Int { suspension.activity.now(Clock.monotonicMilliseconds) }

  /// In the order in which they became live.
  var inOrder: [JobRun] { runs.values.sorted { $0.number < $1.number } }

  // MARK: Beginning

  /// Has a job become live: its manifest is accepted and planned.
  /// - Parameter replaced: The number of the live run whose manifest its own is to replace. Default: nil, none.
  func start(_ source: JobPlanning.Source, replacing replaced: Int? = nil, now: Double) {
    lastNumber += 1
    let number = lastNumber
    var fetched: JobPlanner.Fetched?
    if case .unfinished(let job) = source { fetched = knownRuns[job.runID]?.fetched }
    let planning = JobPlanning(
      source, number: number, planner: planner, during: suspension.pauses.open(since: 0),
      isReplacement: replaced != nil, fetched: fetched)
    let run = JobRun(number: number, source: source, planning: planning, now: now)
    run.replaces = replaced
    runs[number] = run
    work.start(planning, run: run.number)
  }

  /// Has a live run planned that was planned before.
  /// - Parameter fetched: What its source has listed, when that was downloaded just now. Default: nil.
  func planAgain(_ run: JobRun, _ job: LedgerJob, fetched: JobPlanner.Fetched? = nil) {
    if let replaced = run.replaces, runs[replaced] == nil { run.replaces = nil }
    let planning = JobPlanning(
      .unfinished(job), number: run.number, planner: planner, during: [], isReplacement: run.replaces != nil,
      isAccepted: true, fetched: fetched)
    run.phase = .planning(.manifest(planning))
    work.start(planning, run: run.number)
  }

  func handle(_ message: BackgroundWork.Message) throws {
    switch message {
    case .accepted(let number, let job, let manifest):
      runs[number]?.accepted = (job, manifest)
      runs[number]?.time = runTime()
      runs[number]?.bottlenecks = runs[number]?.bottlenecks ?? BottleneckTime(now: Clock.monotonicMilliseconds)
      runs[number]?.sourceTransfers = manifest.transfers ?? Transfers()
      if let known = knownRuns.removeValue(forKey: job.runID) { runs[number]?.known = known }
      if let run = runs[number] {
        // The file may be a later one, when this is accepted again.
        let isLast = !runs.values.contains { $0.order > run.order && $0.name == run.name }
        if isLast, manifest.inboxPath != nil { queue.pass(manifest.file, identity: manifest.identity) }
        findRequest(for: run)
      }
      observe(.jobAccepted(job: job.name, file: manifest.file))
    case .listed(let number, let job, let manifest):
      runs[number]?.accepted = (job, manifest)
      runs[number]?.known.fetched = nil
    case .planned(let number, let result):
      guard let run = runs[number] else { return }
      try withTrouble(about: run, isPlanning: true) { try planned(run, result.get()) }
    case .written(let number, let report): deliver(report, of: number)
    case .unwritten(let number, let error): try reported(number, .failure(error))
    case .accessRefused(let error):
      if isAccessKnown { observe(.warning("the outbox's file system decides itself who may read manifests: \(error)")) }
      isAccessKnown = false
    case .rowsCancelled(let number, let rows, let told):
      tell(cancelled: rows, of: number)
      told.signal()
    case .cancelled(let number, let result): try recorded(number, result)
    }
  }

  private func planned(_ run: JobRun, _ result: JobPlanning.Result) throws {
    // What holds it may be about an earlier run.
    if queue.earlierRuns(than: run.order, of: run.name).isEmpty { holds.release(.planning(run.name)) }
    suspension.plannedSomething()
    switch result {
    case .planned(let plan) where !isStopping: try adopt(plan, for: run)
    case .planned, .cancelled: runs[run.number] = nil
    case .superseded(let runID):
      runs[run.number] = nil
      runEnded(runID)
    case .notSettled:
      runs[run.number] = nil
      if case .dropped(let manifest) = run.source { queue.doubt(manifest) }
    case .setAside(let damaged): setAside(run, damaged)
    case .alreadyDone(let trouble):
      runs[run.number] = nil
      guard case .dropped(let manifest) = run.source else { return }
      queue.pass(manifest.file, identity: manifest.identity.text)
      guard let trouble else { return }
      summary.hadTrouble = true
      let why = "the manifest cannot be moved out of the inbox: \(trouble)"
      queue.keep(manifest.file, .init(job: manifest.job, identity: manifest.identity.text, why: why))
      observe(.warning("\(manifest.file) is done, and cannot be moved out of the inbox: \(trouble)"))
    }
  }

  private func adopt(_ plan: Plan, for run: JobRun) throws {
    delivery.record(resumePauses(run, plan), syncing: plan.unsynced)
    if plan.report == nil, !plan.warnings.isEmpty, !run.isPlannedAgain {
      observe(.manifestDoubtful(job: run.name, plan.warnings))
    }
    if let outcome = plan.report?.outcome ?? plan.outcome {
      run.phase = .reporting(.init(plan: plan, outcome: outcome, report: plan.report))
    } else if !plan.problems.isEmpty {
      reject(run, plan, JobOutcome(rejected: plan.problems, run.sourceTransfers, taking: elapsed(run)))
    } else if let failure = plan.sourceFailure {
      rejectSource(of: run, plan, failure)
    } else if plan.source != nil {
      run.phase = .planning(.unlisted(plan))
    } else {
      run.phase = .waiting(plan)
      leaveToSame(run)
    }
  }

  /// Has a run end whose manifest is rejected.
  func reject(_ run: JobRun, _ plan: Plan, _ outcome: JobOutcome) {
    var (plan, outcome) = (plan, outcome)
    let waiting = queue.earlierRuns(than: run.order, of: run.name)
    let isReplacement = mayGoOn(run.replaces) || !waiting.isEmpty
    if isReplacement {
      // Nothing changes for what was there before, and the manifests of that have gone.
      let earlier = runs.values.filter { $0.name == run.name && $0.order < run.order }
      unknownRuns.formUnion(earlier.compactMap { $0.accepted?.job.runID } + waiting.map(\.runID))
      outcome.isRejectedReplacement = true
      plan.run = plan.run.inHistory
    }
    let hasPredecessor = run.replaces != nil && !isReplacement
    run.phase = .reporting(.init(plan: plan, outcome: outcome, hasPredecessor: hasPredecessor))
  }

  /// Whether a run is live and does not end because a later manifest has taken the place of its own.
  private func mayGoOn(_ number: Int?) -> Bool {
    switch number.flatMap({ runs[$0] })?.phase {
    case .closing(let closing): !closing.isSuperseded
    case .reporting(let reporting): reporting.outcome.state != .superseded
    case .planning, .waiting, .running: true
    case nil: false
    }
  }

  /// Begins the work on the entries of a planned job.
  func begin(_ number: Int, now: Double) {
    guard let run = runs[number] else { return }
    if case .planning(.unlisted(let plan)) = run.phase, let source = plan.source {
      return fetch(source, plan, of: run, now: now)
    }
    guard case .waiting(let plan) = run.phase else { return }
    delivery.record(plan.names + [.advance(plan.run.runID, to: .running)])
    let entries = RunEntries(plan, activeTime: activeTime, now: now, hosts: run.sourceHosts)
    flow.add(number, entries, transfers: run.sourceTransfers)
    run.phase = .running(entries)
    run.since = now
    let deferred = scheduler.deferred(run: number).count
    observe(.jobStarted(job: run.name, total: plan.total, ended: entries.began.ended, deferred: deferred))
  }

  /// Starts entries while there is room.
  func admit(now: Double, _ configuration: Configuration, cache: DownloadCache?) {
    planUnreadableAgain(now: now)
    let hasOthers = !queue.isEmpty || runs.count > flow.runs.count
    flow.admit(now: now, configuration, cache: cache, hasOthers: hasOthers)
  }

  /// Handles what the delivery reports.
  func handle(_ message: DeliveryQueue.Message) throws {
    switch message {
    case .committed, .rejected, .held, .failing, .noSpace: flow.handle(message)
    case .reported(let run, let result): try reported(run, result)
    case .unstaged(let run, let error): try unstaged(run, error)
    case .unlogged(let run, let error):
      observe(.warning("entries.jsonl of job \(runs[run]?.name ?? "") lacks rows: \(error)"))
    case .broken(let error): throw error
    }
  }

  /// The live jobs, as far as it matters for what is to be done, in the order in which they became live.
  var live: [LiveJob] {
    let runs = inOrder
    lazy var firstNumbers = Dictionary(runs.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    /// Whether an earlier run of its job has not ended: they end in their order.
    func hasEarlierRun(_ run: JobRun) -> Bool { firstNumbers[run.name] != run.number }
    return runs.map { run in
      var job = run.live
      job.due = holds[.ending(run.number)]?.due ?? 0
      if job.isWorkedOn, let entries = run.entries { job.activity = flow.activity(of: run.number, entries) }
      if job.waits || job.isWorkedOn { job.file = run.file }
      if job.phase == .closing(isIdle: true),
        pending.isInProgress(run: run.number) || hasEarlierRun(run) && !run.leavesNothing
      {
        job.phase = .closing(isIdle: false)
      }
      return job
    }
  }

  // MARK: Stopping

  /// Begins to stop: what waits is cancelled, and stays in the ledger.
  func stop(_ reason: Gate.Stop) {
    gate.stop = reason
    work.stop()
    cancelPlanning()
    flow.stop()
  }

  private func cancelPlanning() {
    for run in runs.values { if case .planning(.manifest(let planning)) = run.phase { planning.cancel() } }
  }

  /// Ends what plans jobs and writes reports on threads of its own, or waits for its end for some seconds.
  func shutDown() {
    cancelPlanning()
    work.shutDown()
    retention?.close()
  }

  var isPlanning: Bool {
    runs.values.contains { if case .planning(.manifest) = $0.phase { true } else { false } }
  }

  /// Whether nothing is left to do but to wait for closed hosts, while no host has answered for so many seconds.
  func isCutOff(for seconds: Double) -> Bool {
    scheduler.hosts.unansweredTime >= Int(seconds * 1000) && flow.undelivered == 0 && scheduler.hosts.isCutOff
      && runs.values.allSatisfy { $0.mayWaitForHosts }
  }

  /// Whether nothing is being delivered.
  var isDelivered: Bool {
    flow.undelivered == flow.held && !runs.values.contains(where: \.isUnderWay)
  }

  /// Reports trouble that is no job's.
  func report(trouble: String) {
    summary.hadTrouble = true
    observe(.warning(trouble))
  }

  // MARK: The end

  /// Has a run's report written and delivered: its rows are durable, or there are none.
  func finish(_ number: Int) {
    guard let run = runs[number] else { return }
    if case .running(let entries) = run.phase {
      let outcome = JobOutcome(
        entries.tally, scheduler.transfers(run: number), at: Clock.wallMilliseconds, taking: elapsed(run),
        isFirst: entries.plan.isFirst, bottlenecks: run.bottlenecks?.shares ?? [], holds: flow.holds(of: entries))
      flow.remove(number)
      run.phase = .reporting(.init(plan: entries.plan, outcome: outcome))
    }
    guard case .reporting(var reporting) = run.phase, !reporting.isUnderWay else { return }
    delivery.record(closePauses(run))
    reporting.isUnderWay = true
    run.phase = .reporting(reporting)
    if let report = reporting.report { return delivery.deliver(report) }
    work.writeReport(number, reporting, pauses: run.pauses)
  }

  /// Delivers the documents of a run. They are kept for another attempt: what was recorded is not written again.
  private func deliver(_ report: ReportDelivery, of number: Int) {
    guard let run = runs[number], case .reporting(var reporting) = run.phase else { return }
    reporting.report = report
    reporting.report?.isRepeated = true
    // From now on what is there may be its own.
    reporting.hasPredecessor = false
    run.phase = .reporting(reporting)
    delivery.deliver(report)
  }

  /// Takes in that the documents of a run may not be on disk.
  func unstaged(_ number: Int, _ error: any Error) throws {
    guard let run = runs[number], case .reporting(var reporting) = run.phase else { return }
    reporting.report = nil
    run.phase = .reporting(reporting)
    try reported(number, .failure(error))
  }

  /// Takes in what became of a run's report.
  func reported(_ number: Int, _ result: Result<ReportDelivery.Outcome, any Error>) throws {
    guard let run = runs[number], case .reporting(var reporting) = run.phase else { return }
    reporting.isUnderWay = false
    run.phase = .reporting(reporting)
    try withTrouble(about: run, isPlanning: false) {
      // What was recorded is not written again, with or without an index.
      if case .failure(let error) = result, reporting.report == nil, isDamageOfIndex(error, of: run) {
        return planAnew(run, error, now: Clock.monotonicSeconds)
      }
      let outcome = try result.get()
      if let trouble = outcome.manifestTrouble {
        summary.hadTrouble = true
        let why = "the manifest cannot be moved out of the inbox: \(trouble)"
        let manifest = reporting.plan.manifest
        queue.keep(manifest.file, .init(job: run.name, identity: manifest.identity, why: why))
        observe(.warning(why))
      }
      suspension.wroteSomething()
      holds.release(.ending(run.number))
      removeRequests(for: run)
      remove(run)
      work.gallery?.ended(reporting, outcome.job)
      retention?.runEnded(delivered: outcome.job.counts.filtered - outcome.job.counts.reused)
      runEnded(reporting.plan.run.runID)
      let accepted = planner.configuration.acceptFailures
      let isAccepted = outcome.job.state != .succeeded && accepted?.accepts(outcome.job) == true
      // What a later run says of the job counts.
      if outcome.job.state != .superseded { summary.states.insert(isAccepted ? .succeeded : outcome.job.state) }
      observe(.jobEnded(JobSummary(run.name, outcome.job, reporting.plan, isAccepted: isAccepted)))
    }
  }

  /// - Parameter isIndexUsable: Whether its index may serve another job. Default: it may.
  func remove(_ run: JobRun, isIndexUsable: Bool = true) {
    holds.release(.ending(run.number))
    delivery.forget(run: run.number)
    if isIndexUsable, let index = run.plan?.index { planner.indexes.give(back: index) }
    runs[run.number] = nil
    guard run.replaces != nil else { return }
    // What was to replace it replaces what that was to replace.
    for later in runs.values where later.replaces == run.number { later.replaces = run.replaces }
  }
}

extension JobOutcome {
  /// The outcome of a job whose manifest has problems.
  fileprivate init(
    rejected problems: [ManifestProblem], _ transfers: Transfers, taking elapsed: RunTime.Elapsed?
  ) {
    self.init(
      state: .rejected, counts: Counts(), bytes: Bytes(), transfers: transfers,
      problems: problems.map { Problem(code: $0.code.rawValue, message: $0.message, place: $0.place.description) },
      finished: Clock.wallMilliseconds, elapsed: elapsed)
  }
}

extension JobSummary {
  fileprivate init(_ job: String, _ outcome: JobOutcome, _ plan: Plan, isAccepted: Bool) {
    self.init(
      job: job, state: outcome.state, counts: outcome.counts, sinceLast: outcome.sinceLast,
      isAccepted: isAccepted, transfers: outcome.transfers, bottlenecks: outcome.bottlenecks ?? [],
      problems: outcome.problems.map { ($0.place.isEmpty ? "" : $0.place + ": ") + $0.message },
      report: plan.run.folder.report, seconds: Double(outcome.duration(since: plan.manifest.accepted)) / 1000,
      isRejectedReplacement: outcome.isRejectedReplacement == true)
  }
}
