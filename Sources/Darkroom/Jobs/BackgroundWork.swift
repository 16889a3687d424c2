import Delivery
import Dispatch
import Gallery
import Ledger
import Model
import Synchronization
import System

/// What is done for runs on threads of its own, so that nothing else waits: planning, recording what was not done, writing
/// reports. What it comes to is a `Message`. It belongs to the thread of `Darkroom`.
final class BackgroundWork {
  /// What other threads report of a run.
  enum Message: Sendable {
    case accepted(run: Int, LedgerJob, JobManifest)
    case listed(run: Int, LedgerJob, JobManifest)
    case planned(run: Int, Result<JobPlanning.Result, any Error>)
    case written(run: Int, ReportDelivery)
    case unwritten(run: Int, any Error)
    /// The outbox's file system has refused to give a manifest its permissions.
    case accessRefused(SystemError)
    /// A page of the rows of a cancelled run is durable; the next is written when this one was told of.
    case rowsCancelled(run: Int, [ReportRow], DispatchSemaphore)
    case cancelled(run: Int, Result<JobTally, any Error>)
  }

  var planner: JobPlanner

  /// What writes the pages of jobs; nil when nothing does.
  var gallery: GalleryWriter?

  private let delivery: DeliveryQueue
  private let send: @Sendable (Message) -> Void
  private let group = DispatchGroup()
  private let stopFlag = StopFlag()

  /// What is being planned, by the runs' numbers.
  private var plannings: [Int: JobPlanning] = [:]

  init(planner: JobPlanner, delivery: DeliveryQueue, send: @escaping @Sendable (Message) -> Void) {
    (self.planner, self.delivery, self.send) = (planner, delivery, send)
  }

  /// Accepts and plans the manifest of a run.
  /// - Parameter pauses: Those that hold.
  func plan(_ request: JobPlanning.Request, run: Int, during pauses: [LedgerPause]) {
    let planning = JobPlanning(request, number: run, planner: planner, during: pauses)
    plannings[run] = planning
    planning.start(
      in: group,
      accepted: { [send] in send(.accepted(run: run, $0, $1)) },
      listed: { [send] in send(.listed(run: run, $0, $1)) },
      completion: { [send] in send(.planned(run: run, $0)) })
  }

  /// Records that the planning of a run has ended.
  func planned(_ run: Int) { plannings[run] = nil }

  /// Ends soon what is being planned.
  func cancelPlanning() { for planning in plannings.values { planning.cancel() } }

  /// Records what was not done of a cancelled run.
  func recordCancelled(_ run: Int, _ entries: RunEntries) {
    let (plan, attempts) = (entries.plan, entries.attempts)
    let cancellation = JobCancellation(
      run: plan.run, index: plan.index, ledger: planner.ledger, delivery: delivery, attempts: attempts,
      names: plan.start.names
    ) { [send, stopFlag] rows in
      // Not more than a page is waiting, however slowly standard output is read.
      let told = DispatchSemaphore(value: 0)
      send(.rowsCancelled(run: run, rows, told))
      while told.wait(timeout: .now() + .milliseconds(100)) == .timedOut, !stopFlag.isSet {}
    }
    DispatchQueue(label: "Cancellation").async(group: group) { [send, stopFlag] in
      send(.cancelled(run: run, Result { try cancellation.write { stopFlag.isSet } }))
    }
  }

  /// Records what is left of a superseded run.
  func recordSuperseded(_ run: Int, _ plan: Plan, hasBegun: Bool) {
    let supersession = Supersession(
      run: plan.run, manifest: plan.manifest, total: plan.total, ledger: planner.ledger, state: planner.state,
      hasLog: hasBegun)
    DispatchQueue(label: "Cancellation").async(group: group) { [send, delivery] in
      // What the later run is comes first.
      delivery.drain()
      send(.cancelled(run: run, Result { try supersession.record() }))
    }
  }

  /// Writes the documents of a run all of whose rows are durable.
  func writeReport(_ run: Int, _ reporting: JobRun.Reporting, pauses: [LedgerPause]) {
    let (plan, outcome) = (reporting.plan, reporting.outcome)
    let file = ReportFile(
      run: plan.run, manifest: plan.manifest, outcome: outcome, pauses: pauses, index: plan.index,
      ledger: planner.ledger, state: planner.state, sources: plan.sources,
      accessRefused: { [send] in send(.accessRefused($0)) }, manifestWarnings: plan.findings.warnings,
      hasSecretDefaults: plan.findings.hasSecretDefaults, gallery: gallery)
    gallery?.willEnd(plan.run.job)
    let (history, keepHistory) = (History(folder: plan.run.folder), planner.configuration.keepHistory)
    let hasPredecessor = reporting.hasPredecessor
    // What was left for the next time is not gone.
    let isWhole = outcome.state == .succeeded && plan.manifest.list?.isIncomplete != true
    let pruning =
      planner.configuration.prune && isWhole && outcome.counts.total > 0
      ? Pruning(run: plan.run, index: plan.index, ledger: planner.ledger) : nil
    DispatchQueue(label: "Report").async(group: group) { [send] in
      do {
        if hasPredecessor { try history.putAside() }
        // What cannot be removed now is removed after a later run.
        try? history.prune(keeping: keepHistory)
        try? pruning?.prune()
        send(.written(run: run, try file.write()))
      } catch {
        send(.unwritten(run: run, error))
      }
    }
  }

  /// Ends soon what is being recorded: the next start does the rest.
  func stop() {
    stopFlag.set()
    cancelPlanning()
  }

  /// Waits for some seconds until nothing is done any more.
  func shutDown() {
    stop()
    _ = group.wait(timeout: .now() + 5)
  }
}

/// Tells threads of their own that the program is to stop.
final class StopFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}

extension GalleryWriter {
  /// Records a run whose report was delivered.
  func ended(_ reporting: JobRun.Reporting, _ outcome: JobOutcome) {
    let plan = reporting.plan
    // The page shows what a later run says of the job.
    guard outcome.state != .superseded else { return }
    if case .deliver = plan.next, !plan.run.isInHistory { check(plan.run.job) }
    ended(
      EndedRun(
        name: plan.run.job, runID: plan.run.runID, outcome: outcome, started: plan.manifest.accepted,
        isInHistory: plan.run.isInHistory))
  }
}
