import Delivery
import Model

/// Runs whose rows are all durable: their reports are written and delivered.
extension RunTable {
  /// How long `run` waits until a manifest can be moved out of the inbox, in seconds. `watch` has no limit.
  static let manifestWait = 60.0

  /// Writes and delivers a run's report, when all its rows are durable or there are none.
  mutating func finish(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number] else { return [] }
    var effects: [Effect] = []
    var reporting: JobRun.Reporting
    switch run.phase {
    case .running(let entries):
      let outcome = JobOutcome(
        entries.tally, transfers(of: run, context), at: context.wall, taking: run.elapsed(context),
        isFirst: entries.plan.earlier.isNone, bottlenecks: run.bottlenecks?.shares ?? [],
        holds: context.hostHolds(entries))
      reporting = .init(plan: entries.plan, outcome: outcome)
      effects.append(.removeEntries(run: number))
    case .reporting(let idle) where !idle.isUnderWay: reporting = idle
    case .planning, .waiting, .closing, .reporting: return []
    }
    if let changes = runs[number]?.closePauses(now: context.wall), !changes.isEmpty { effects.append(.record(changes)) }
    reporting.isUnderWay = true
    if let hold = context.holds[.ending(number)], hold.isOfManifest, queue.goal != .watch {
      reporting.report?.mayLeaveManifest = context.now + 0.1 >= hold.since + Self.manifestWait
    }
    runs[number]?.phase = .reporting(reporting)
    if let report = reporting.report { return effects + [.deliver(report)] }
    return effects + [.writeReport(run: number, reporting, pauses: runs[number]?.pauses ?? [])]
  }

  /// Delivers the documents of a run, and keeps them, since recorded documents are not written again.
  mutating func written(_ run: JobRun, _ report: ReportDelivery) -> [Effect] {
    guard case .reporting(var reporting) = run.phase else { return [] }
    reporting.report = report
    reporting.report?.isRepeated = true
    // A report in the job's folder may now be its own.
    reporting.hasPredecessor = false
    runs[run.number]?.phase = .reporting(reporting)
    return [.deliver(report)]
  }

  mutating func delivered(_ run: JobRun, _ outcome: ReportDelivery.Outcome, _ context: Context) -> [Effect] {
    guard case .reporting(let reporting) = run.phase else { return [] }
    var effects: [Effect] = []
    if let trouble = outcome.manifestTrouble {
      let manifest = reporting.plan.manifest
      let why = keepManifest(manifest.file, of: run.name, identity: manifest.identity, "\(trouble)")
      effects.append(.observe(.warning(why)))
    } else {
      queue.removed(reporting.plan.manifest)
    }
    effects += outcome.movedAway.map { .observe(.movedAway($0, job: run.name)) }
    let isAccepted = outcome.job.state != .succeeded && context.acceptedFailures?.accepts(outcome.job) == true
    let isEmptyFailure = context.failsEmpty && outcome.job.state == .succeeded && outcome.job.counts.total == 0
    if isEmptyFailure {
      summary.states.insert(.failed)
      effects.append(.observe(.warning("the manifest has no entries", job: run.name)))
    }
    // A superseded run does not count, since a later run of the job does.
    if outcome.job.state != .superseded { summary.states.insert(isAccepted ? .succeeded : outcome.job.state) }
    effects.append(.removeRequests(run))
    effects += remove(run.number)
    return effects + [
      .reported(reporting, outcome.job),
      .observe(
        .jobEnded(
          JobSummary(
            run, outcome.job, reporting.plan, isAccepted: isAccepted, isEmptyFailure: isEmptyFailure,
            reporting.report))),
    ]
  }

  /// Records that a manifest whose job has ended cannot be moved out of the inbox.
  /// - Returns: A description of the problem.
  @discardableResult
  mutating func keepManifest(_ file: String, of job: String, identity: String, _ trouble: String) -> String {
    summary.hadTrouble = true
    let why = "the manifest cannot be moved out of the inbox: \(trouble)"
    queue.keep(file, .init(job: job, identity: identity, why: why))
    return why
  }
}

extension JobSummary {
  fileprivate init(
    _ run: JobRun, _ outcome: JobOutcome, _ plan: Plan, isAccepted: Bool, isEmptyFailure: Bool,
    _ report: ReportDelivery?
  ) {
    let notPruned = report?.notPruned
    self.init(
      job: run.name, state: outcome.state, counts: outcome.counts, sinceLast: outcome.sinceLast,
      isAccepted: isAccepted, transfers: outcome.transfers, bottlenecks: outcome.bottlenecks ?? [],
      problems: outcome.problems.map { ($0.location.isEmpty ? "" : $0.location + ": ") + $0.message },
      report: plan.run.folder.report, seconds: Double(outcome.duration(since: plan.manifest.accepted)) / 1000,
      isRejectedReplacement: outcome.isRejectedReplacement == true, damaged: outcome.damaged?.message,
      notPruned: notPruned,
      pruned: report?.pruned ?? 0, isNewlyNotPruned: notPruned != nil && !plan.earlier.wasNotPruned,
      isEmptyFailure: isEmptyFailure,
      // Rows of a run that was live before were events of this process, too.
      earlierFailures: run.known.order == nil ? plan.tally.failures : FailureCounts())
  }
}

extension Event {
  /// A file of others had the name of a document of a job.
  /// - Parameter path: Its new path.
  static func movedAway(_ path: String, job: String) -> Event {
    .warning(
      "a file that somebody else has put into the job's folder under the name of a document is \(path) now", job: job)
  }
}
