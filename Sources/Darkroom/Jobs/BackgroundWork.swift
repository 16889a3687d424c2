import Delivery
import Dispatch
import Gallery
import Ledger
import Model
import Synchronization
import System

/// Work for runs on separate threads: planning, recording cancelled entries, writing reports. Results are sent as
/// `Message`s. Used on the thread of `Darkroom`.
final class BackgroundWork {
  /// A message of another thread about a run.
  enum Message: Sendable {
    case accepted(run: Int, LedgerJob, JobManifest)
    case listed(run: Int, LedgerJob, JobManifest)
    case planned(run: Int, Result<JobPlanning.Result, any Error>)
    case written(run: Int, ReportDelivery)
    case unwritten(run: Int, any Error)
    /// The outbox's file system has refused to set the permissions of a manifest.
    case accessRefused(SystemError)
    /// A page of rows of a cancelled run is durable. The next one is written after the semaphore is signalled.
    case rowsCancelled(run: Int, [ReportRow], DispatchSemaphore)
    case cancelled(run: Int, Result<JobTally, any Error>)
  }

  var planner: JobPlanner

  /// Writes the pages of jobs; nil when the gallery is off.
  var gallery: GalleryWriter?

  private let delivery: DeliveryQueue
  private let send: @Sendable (Message) -> Void
  private let group = DispatchGroup()
  private let stopFlag = StopFlag()

  /// The plannings in progress, by the numbers of the runs.
  private var plannings: [Int: JobPlanning] = [:]

  init(planner: JobPlanner, delivery: DeliveryQueue, send: @escaping @Sendable (Message) -> Void) {
    (self.planner, self.delivery, self.send) = (planner, delivery, send)
  }

  /// Accepts and plans the manifest of a run.
  /// - Parameter pauses: The current pauses.
  func plan(_ request: JobPlanning.Request, run: Int, during pauses: [LedgerPause]) {
    let planning = JobPlanning(request, number: run, planner: planner, during: pauses)
    plannings[run] = planning
    planning.start(
      in: group,
      accepted: { [send] in send(.accepted(run: run, $0, $1)) },
      listed: { [send] in send(.listed(run: run, $0, $1)) },
      completion: { [send] in send(.planned(run: run, $0)) })
  }

  /// Whether a manifest is being accepted or planned.
  var isPlanning: Bool { !plannings.isEmpty }

  /// Records that the planning of a run has ended.
  func planned(_ run: Int) { plannings[run] = nil }

  /// Cancels all plannings.
  func cancelPlanning() { for planning in plannings.values { planning.cancel() } }

  /// Records the remaining entries of a cancelled run.
  func recordCancelled(_ run: Int, _ entries: RunEntries) {
    let (plan, attempts) = (entries.plan, entries.attempts)
    let cancellation = JobCancellation(
      run: plan.run, index: plan.index, ledger: planner.ledger, delivery: delivery, attempts: attempts,
      names: plan.start.names
    ) { [send, stopFlag] rows in
      // At most one page waits to be reported, however slowly standard output is read.
      let told = DispatchSemaphore(value: 0)
      send(.rowsCancelled(run: run, rows, told))
      while told.wait(timeout: .now() + .milliseconds(100)) == .timedOut, !stopFlag.isSet {}
    }
    JobThreads.ending.run(in: group) { [send, stopFlag] in
      send(.cancelled(run: run, Result { try cancellation.write { stopFlag.isSet } }))
    }
  }

  /// Records the remaining entries of a superseded run.
  func recordSuperseded(_ run: Int, _ plan: Plan, hasBegun: Bool) {
    let supersession = Supersession(
      run: plan.run, manifest: plan.manifest, total: plan.total, ledger: planner.ledger, state: planner.state,
      hasLog: hasBegun)
    JobThreads.ending.run(in: group) { [send, delivery] in
      // Records of the later run are written first.
      delivery.drain()
      send(.cancelled(run: run, Result { try supersession.record() }))
    }
  }

  /// Writes the documents of a run whose rows are all durable.
  func writeReport(_ run: Int, _ reporting: JobRun.Reporting, pauses: [LedgerPause]) {
    let (plan, outcome) = (reporting.plan, reporting.outcome)
    var file = ReportFile(
      run: plan.run, manifest: plan.manifest, outcome: outcome, pauses: pauses, index: plan.index,
      ledger: planner.ledger, state: planner.state, sources: plan.sources,
      accessRefused: { [send] in send(.accessRefused($0)) }, manifestWarnings: plan.findings.warnings,
      hasSecretDefaults: plan.findings.hasSecretDefaults, gallery: gallery)
    file.notices = planner.configuration.notices
    gallery?.willEnd(plan.run.job)
    let (history, keepHistory) = (History(folder: plan.run.folder), planner.configuration.keepHistory)
    let (hasPredecessor, hasPages) = (reporting.hasPredecessor, planner.configuration.gallery == .on)
    let prunes = planner.configuration.prune
    let obstacle = outcome.obstacleToPruning(plan.manifest)
    let pruning = prunes ? Pruning(run: plan.run, index: plan.index, ledger: planner.ledger) : nil
    // A rejected run has no rows; of a superseded one the next run tells.
    let mayWarn = plan.earlier.hasOutputs && outcome.state != .rejected && outcome.state != .superseded
    JobThreads.ending.run(in: group) { [send, file] in
      var file = file
      do {
        if hasPredecessor { try history.putAside() }
        // What cannot be removed now is removed after a later run.
        try? history.prune(keeping: keepHistory, keepsLastGood: hasPages && outcome.state == .rejected)
        if obstacle == nil {
          do {
            try pruning?.prune(&file.pruned)
          } catch  where mayWarn {
            file.notPruned = "\(error)"
          } catch {}
        } else if mayWarn, let pruning, (try? pruning.hasObsolete()) != false {
          file.notPruned = obstacle
        }
        send(.written(run: run, try file.write()))
      } catch {
        send(.unwritten(run: run, error))
      }
    }
  }

  /// Cancels recording and planning. The next start completes them.
  func stop() {
    stopFlag.set()
    cancelPlanning()
  }

  /// Waits up to five seconds until all work has ended.
  func shutDown() {
    stop()
    _ = group.wait(timeout: .now() + 5)
  }
}

/// Tells other threads to stop.
final class StopFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}

extension GalleryWriter {
  /// Records a run whose report was delivered.
  func ended(_ reporting: JobRun.Reporting, _ outcome: JobOutcome) {
    let plan = reporting.plan
    // A superseded run is not shown, since a later run of the job is.
    guard outcome.state != .superseded else { return }
    if case .deliver = plan.next, !plan.run.isInHistory { check(plan.run.job) }
    ended(
      EndedRun(
        name: plan.run.job, runID: plan.run.runID, isInHistory: plan.run.isInHistory, head: reporting.report?.head))
  }
}

extension JobOutcome {
  /// Why results of earlier runs are not removed; nil when they are.
  fileprivate func obstacleToPruning(_ manifest: JobManifest) -> String? {
    if counts.failed > 0 { return "\(counts.failed.of("entry", "entries")) failed" }
    if state != .succeeded { return "the run was not completed" }
    // They still exist.
    if manifest.list?.isIncomplete == true { return "files of the folder were left out" }
    return counts.total > 0 ? nil : "the manifest has no entries"
  }
}
