import Delivery
import JobIndex
import Ledger
import Model

/// An event of a run.
indirect enum RunEvent {
  /// Its manifest is in the ledger.
  case accepted(LedgerJob, JobManifest)
  /// Its list of entries is in the ledger.
  case listed(LedgerJob, JobManifest)
  case planned(JobPlanning.Result)
  /// Its list of entries was downloaded.
  case fetched(JobPlanner.Fetched)
  /// Its list of entries could not be downloaded.
  case fetchFailed(EntryFailure, attempts: Int)
  case fetchHeld(RunTable.Trouble)
  /// Its remaining entries are recorded. Contains the counts of all its rows.
  case closed(JobTally)
  /// Its documents are written.
  case written(ReportDelivery)
  /// Its documents may not be durable.
  case unstaged(RunTable.Trouble)
  case delivered(ReportDelivery.Outcome)
  case failed(RunTable.Work, RunTable.Trouble)
  /// Its index cannot be read, and none of its operations is in progress.
  case indexUnreadable(String)
}

/// All waiting and live runs. A value type without files, threads and clocks: it decides from events what happens to
/// the runs, and `LiveJobs` carries the decisions out.
struct RunTable {
  /// The outcome of the jobs.
  struct Summary: Sendable {
    /// The states of ended jobs. A job whose failures are accepted has succeeded.
    var states: Set<JobOutcome.State> = []
    /// Whether a job could not be processed, or its manifest could not be moved.
    var hadTrouble = false
    /// Whether a named manifest does not exist or cannot be read.
    var isMissing = false
    /// Whether work was left for the next start because a process had a manifest open for writing, or no host answered.
    var hasLeftOpen = false
  }

  /// Work for a run on another thread.
  enum Work { case planning, closing, reporting }

  /// An effect to carry out. Boxed, since plans and outcomes are large.
  indirect enum Effect {
    case plan(run: Int, JobPlanning.Request)
    /// Adds the entries of a run, which may then start.
    case add(run: Int, RunEntries, Transfers)
    /// Closes the entries of a run: none starts any more, and operations in progress are cancelled.
    /// - Parameter sparing: The later manifest, whose operations may finish; nil when there is none.
    case close(run: Int, RunEntries, sparing: Plan?)
    /// Cancels operations of a superseded run that the later manifest does not want.
    /// - Parameter sparing: The later manifest; nil to cancel all.
    case cancel(run: Int, RunEntries, sparing: Plan?)
    /// Removes the entries of a run without operations in progress.
    case removeEntries(run: Int)
    case recordCancelled(run: Int, RunEntries)
    case recordSuperseded(run: Int, Plan, hasBegun: Bool)
    case writeReport(run: Int, JobRun.Reporting, pauses: [LedgerPause])
    case deliver(ReportDelivery)
    /// Closes the log of a run.
    case closeLog(run: Int)
    /// Returns an index to the pool.
    case reuse(JobIndex)
    case removeRequests(JobRun)
    case reported(JobRun.Reporting, JobOutcome)
    /// Releases the last resources of a run.
    case ended(runID: String)
    case record([LedgerChange])
    /// Holds a subject.
    /// - Parameters:
    ///   - what: Its name in messages.
    ///   - space: As `Holds.Hold.space`. Default: nil.
    ///   - latest: The latest time of the next try, for a manifest that cannot be moved. Default: nil, another problem.
    case hold(Holds.Subject, String, what: String, space: Int? = nil, latest: Double? = nil)
    /// Holds the planning of a job as long as its index.
    case holdPlanning(of: String, runID: String)
    case release(Holds.Subject)
    case observe(Event)
  }

  /// The state that the table needs from its environment.
  struct Context {
    /// As `Clock.monotonicSeconds`.
    var now = 0.0
    /// As `Clock.monotonicMilliseconds`.
    var milliseconds = 0
    /// Milliseconds since 1970.
    var wall = 0
    /// The milliseconds for which this process was paused.
    var paused = 0
    var gate = Gate()
    var holds = Holds()
    var acceptedFailures: FailureAcceptance?
    /// As `Configuration.failEmpty`.
    var failsEmpty = false
    /// The activity of a run's entries.
    var activity: (Int, RunEntries) -> RunEntries.Activity = { _, _ in .busy }
    /// Whether operations of a run are in progress.
    var isInProgress: (Int) -> Bool = { _ in false }
    /// When the next deferred entry of a run is due, as `Clock.monotonicSeconds`; nil without one.
    var deferredUntil: (Int) -> Double? = { _ in nil }
    /// The requests that were sent for a run since its entries were added.
    var transfers: (Int) -> Transfers = { _ in Transfers() }
    /// The holds of the hosts of a run.
    var hostHolds: (RunEntries) -> [HostHold] = { _ in [] }

    /// Milliseconds of a clock that stops during pauses.
    var activeTime: Int { milliseconds - paused }
  }

  var queue: JobQueue
  var runs: [Int: JobRun] = [:]
  var summary = Summary()
  private var lastNumber = 0

  /// Runs whose planning was cancelled because the program stops.
  var stopped: [JobRun] = []

  /// Runs of earlier processes whose inbox may be another one. A missing manifest does not cancel these runs.
  var unknownRuns: Set<String> = []

  /// The state of runs that are not live because they wait to be planned again.
  var knownRuns: [String: JobRun.Known] = [:]

  init(queue: JobQueue) { self.queue = queue }

  /// The live runs, in the order in which they became live.
  var inOrder: [JobRun] { runs.keys.sorted().compactMap { runs[$0] } }

  /// Handles an event of a live run.
  /// - Returns: The effects, in this order.
  mutating func step(_ event: RunEvent, of number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number] else { return [] }
    switch event {
    case .accepted(let job, let manifest): return accepted(run, job, manifest, context)
    case .listed(let job, let manifest):
      runs[number]?.accepted = (job, manifest)
      runs[number]?.known.fetched = nil
      return []
    case .planned(let result):
      // A hold may belong to an earlier run.
      let isHeld = !queue.earlierRuns(than: run.order, of: run.name).isEmpty
      return (isHeld ? [] : [.release(.planning(run.key))]) + planned(run, result, context)
    case .fetched(let list):
      guard case .planning(.list) = run.phase, let job = run.accepted?.job else { return [] }
      let effects = forgetSource(of: number, context)
      runs[number]?.known.fetched = list
      return effects + planAgain(number, job, fetched: list)
    case .fetchFailed(let failure, let attempts):
      guard case .planning(.list(let entries)) = run.phase else { return [] }
      return forgetSource(of: number, context)
        + rejectSource(of: number, entries.plan, failure, attempts: attempts, context)
    case .fetchHeld(let trouble):
      guard case .planning(.list) = run.phase else { return [] }
      return forgetSource(of: number, context) + failed(number, .planning, trouble, context)
    case .closed(let tally): return closed(run, tally, context)
    case .written(let report): return written(run, report)
    case .unstaged(let trouble):
      guard case .reporting(var reporting) = run.phase else { return [] }
      reporting.report = nil
      runs[number]?.phase = .reporting(reporting)
      return failed(number, .reporting, trouble, context)
    case .delivered(let outcome): return delivered(run, outcome, context)
    case .failed(let work, let trouble): return failed(number, work, trouble, context)
    case .indexUnreadable(let reason): return run.isUnderWay ? [] : planAnew(number, reason, context)
    }
  }

  /// Performs a decision of `actions`.
  /// - Returns: The effects, in this order.
  mutating func perform(_ action: Action, _ context: Context) -> [Effect] {
    switch action {
    case .start(let source): return start(source, context)
    case .startReplacement(let source, let number): return start(source, replacing: number, context)
    case .replace(let number, let successor): return replace(number, by: successor, context)
    case .separate(let number): return planSeparately(number)
    case .begin(let number):
      let effects = begin(number, context)
      // No later event would finish a run that is done already.
      guard context.gate.mayReport, case .running(let entries)? = runs[number]?.phase, entries.isDone else {
        return effects
      }
      return effects + finish(number, context)
    case .cancel(let number): return cancel(number, context)
    case .record(let number): return recordRest(number, context)
    case .finish(let number): return finish(number, context)
    case .setAside(let number): return setAside(number, context)
    }
  }

  /// Adds a run, whose manifest is accepted and planned.
  /// - Parameter replaced: The number of the live run whose manifest its own replaces. Default: nil, none.
  mutating func start(_ source: JobPlanning.Source, replacing replaced: Int? = nil, _ context: Context) -> [Effect] {
    lastNumber += 1
    var run = JobRun(number: lastNumber, source: source, now: context.now)
    run.replaces = replaced
    runs[run.number] = run
    var fetched: JobPlanner.Fetched?
    if case .unfinished(let job) = source { fetched = knownRuns[job.runID]?.fetched }
    return [.plan(run: run.number, .init(source: source, isReplacement: replaced != nil, fetched: fetched))]
  }

  /// Removes a run.
  /// - Parameter isIndexUsable: Whether its index may be reused for another job. Default: true.
  mutating func remove(_ number: Int, isIndexUsable: Bool = true) -> [Effect] {
    guard let run = runs.removeValue(forKey: number) else { return [] }
    if run.replaces != nil {
      // Runs that were to replace this one now replace the run that it was to replace.
      for later in runs.values where later.replaces == number { runs[later.number]?.replaces = run.replaces }
    }
    let effects: [Effect] = [.release(.ending(number)), .closeLog(run: number)]
    guard isIndexUsable, let index = run.plan?.index else { return effects }
    return effects + [.reuse(index)]
  }

  // MARK: Queries

  /// Whether a manifest is being planned.
  var isPlanning: Bool { runs.values.contains { $0.stage == .planning } }

  /// The requests that were sent for a run, including those by earlier processes.
  func transfers(of run: JobRun, _ context: Context) -> Transfers {
    if case .reporting(let reporting) = run.phase { return reporting.outcome.transfers }
    let transfers = context.transfers(run.number)
    // A host that could not be reached has no requests, but failures.
    return transfers.hosts.isEmpty ? run.known.sourceTransfers : transfers
  }

  /// Records the requests that were sent for a run that the next start continues.
  func noteTransfers(_ number: Int, _ context: Context) -> [LedgerChange] {
    guard let run = runs[number], case (let job, var manifest)? = run.accepted else { return [] }
    let transfers = transfers(of: run, context)
    manifest.transfers = transfers
    guard transfers.total.requests > 0, let details = try? manifest.text else { return [] }
    return [.note(job.runID, details: details)]
  }

  /// The jobs that wait because something is in their way, and why; also those that have ended and whose manifests cannot be
  /// moved out of the inbox: of a job whose report is there, with the manifest's identity.
  func waits(_ holds: Holds) -> [Status.Wait] {
    var waits = holds.planning.map { Status.Wait(job: $0.job, why: $0.hold.reason) }
    waits += queue.left.missingOptions.map { Status.Wait(job: $0.text, missingOptions: $1) }
    waits += queue.blocked.map { Status.Wait(job: $0.text, why: $1) }
    for run in runs.values {
      guard let why = holds.reason(ofRun: run.number) else { continue }
      let hasManifest = holds[.ending(run.number)]?.isOfManifest == true
      waits.append(.init(job: run.name, why: why, manifest: hasManifest ? run.accepted?.manifest.identity : nil))
    }
    waits += queue.handled.stuck.values.map { .init(job: $0.job, why: $0.why, manifest: $0.identity) }
    return waits.sorted { $0.job < $1.job }
  }

  /// The jobs that the next start goes on with; how many entries have ended, of how many if that is known.
  var left: [(job: String, ended: Int, total: Int?)] {
    let runs = (inOrder + stopped).filter { $0.accepted != nil && !$0.isSuperseded }
    let waiting = queue.unfinished.filter { queue.left.missingOptions[$0.key] == nil }
    return runs.map { run in
      guard let plan = run.plan, plan.source == nil, plan.findings.problems.isEmpty else { return (run.name, 0, nil) }
      if case .reporting(let reporting) = run.phase { return (run.name, reporting.outcome.counts.total, plan.total) }
      return (run.name, (run.entries?.tally ?? plan.tally).counts.total, plan.total)
    } + waiting.map { ($0.name, 0, nil) }
  }

  /// The named manifests that are not in the ledger, and not in the inbox either.
  var notAccepted: [String] {
    let planning = (inOrder + stopped).filter { $0.accepted == nil }.map(\.source)
    return (planning + (queue.named + queue.left.named).map(JobPlanning.Source.named)).compactMap { source in
      if case .named(let file) = source, !file.isInInbox { file.description } else { nil }
    }
  }

  /// When operations of superseded runs are cancelled that have not ended before, in seconds; nil when there are none.
  /// - Parameter isInProgress: Whether operations of a run are in progress.
  func nextWaitEnd(_ isInProgress: (Int) -> Bool) -> Double? {
    runs.values.compactMap { run in
      guard case .closing(let closing) = run.phase, let end = closing.waitEnd else { return nil }
      return !closing.entries.awaited.isEmpty && isInProgress(run.number) ? end : nil
    }.min()
  }
}

extension JobRun {
  /// Its duration so far; nil before it is in the ledger.
  func elapsed(_ context: RunTable.Context) -> RunTime.Elapsed? {
    time?.elapsed(now: context.milliseconds, paused: context.paused)
  }
}
