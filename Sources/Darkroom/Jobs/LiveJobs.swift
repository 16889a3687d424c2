import Database
import Delivery
import JobIndex
import Ledger
import Model
import Operations
import Scheduling
import System

/// Carries out the decisions of `RunTable` about runs, and passes the results back to it. Used on the thread of
/// `Darkroom`; the results of other threads arrive as messages (`BackgroundWork`, `DeliveryQueue`).
///
/// Errors of one job are reported, and the others continue. A full disk and failures of the machine are waited out.
final class LiveJobs {
  var table: RunTable
  let flow: EntryFlow
  let delivery: DeliveryQueue
  let suspension: Suspension
  let work: BackgroundWork
  let observe: (Event) -> Void
  private let runEnded: (String) -> Void

  /// Keeps the ledger small; nil for no retention.
  var retention: LedgerRetention?

  /// When the last process was active, in milliseconds since 1970: by its last write to the ledger or to the status.
  let lastActive: Int

  /// The runs whose manifests are missing in the inbox.
  var missing = MissingFiles()

  /// The times at which the bottlenecks of the runs are sampled.
  var sampleClock = SampleClock(now: Clock.monotonicMilliseconds)

  /// Whether the outbox's file system has set the permissions of all manifests so far.
  private var isAccessKnown = true

  init(
    queue: JobQueue, pending: PendingOperations, delivery: DeliveryQueue, suspension: Suspension,
    planner: JobPlanner, lastActive: Int, observe: @escaping (Event) -> Void,
    runEnded: @escaping (String) -> Void = { _ in }, send: @escaping @Sendable (BackgroundWork.Message) -> Void
  ) {
    table = RunTable(queue: queue)
    flow = EntryFlow(
      pending: pending, delivery: delivery, suspension: suspension, state: planner.state, observe: observe)
    self.delivery = delivery
    self.suspension = suspension
    work = BackgroundWork(planner: planner, delivery: delivery, send: send)
    self.lastActive = lastActive
    self.observe = observe
    self.runEnded = runEnded
  }

  var runs: [Int: JobRun] { table.runs }
  var scheduler: EntryScheduler { flow.scheduler }
  var pending: PendingOperations { flow.pending }
  var planner: JobPlanner { work.planner }

  /// The state that the table needs.
  var context: RunTable.Context {
    let now = Clock.monotonicMilliseconds
    return RunTable.Context(
      now: Clock.monotonicSeconds, milliseconds: now, wall: Clock.wallMilliseconds,
      paused: suspension.activity.paused(now), gate: flow.gate, holds: flow.holds,
      acceptedFailures: planner.configuration.acceptFailures, failsEmpty: planner.configuration.failEmpty,
      activity: { [flow] in flow.activity(of: $0, $1) }, isInProgress: { [flow] in flow.pending.isInProgress(run: $0) },
      deferredUntil: { [flow] in flow.scheduler.deferred(run: $0).nextDue.map { Double($0) / 1000 } },
      transfers: { [flow] in flow.scheduler.transfers(run: $0) }, hostHolds: { [flow] in flow.holds(of: $0) })
  }

  // MARK: The loop

  /// Updates the runs, and starts entries while there is room.
  func update(
    _ limits: JobLimits, _ configuration: Configuration, cache: DownloadCache?, now: Double
  ) {
    endLists()
    perform(table.endWaits(now: now))
    flow.takeCancelled(configuration)
    for action in table.actions(limits, resumedAt: suspension.resumedAt, context) {
      perform(table.perform(action, context))
    }
    admit(now: now, configuration, cache: cache)
  }

  /// Starts entries while there is room.
  func admit(now: Double, _ configuration: Configuration, cache: DownloadCache?) {
    if !flow.gate.isStopping {
      for (run, error) in flow.takeUnreadable() { step(.indexUnreadable("\(error)"), of: run) }
    }
    let hasOthers = !table.queue.isEmpty || runs.count > flow.runs.count
    flow.admit(now: now, configuration, cache: cache, hasOthers: hasOthers)
  }

  /// Handles lists of entries whose operations have ended for good.
  func endLists() {
    for record in flow.takeEndedSources() {
      let live = record.snapshot
      switch (live.source, live.failure) {
      case (let source?, nil): step(.fetched(.init(url: record.url, source: source)), of: record.run.number)
      case (let list?, let failure?) where failure.disposition == .waitForSpace:
        // Other jobs need less space. The cause may also be a quota.
        let needed = list.bytes + planner.configuration.minFree
        let isFull = ((try? Folder.freeSpace(planner.state.path)) ?? 0) < needed
        step(.fetchHeld(.temporary(failure.message, space: isFull ? list.bytes : nil)), of: record.run.number)
      case (_, let failure?): step(.fetchFailed(failure, attempts: live.attempts), of: record.run.number)
      case (nil, nil): break
      }
    }
  }

  // MARK: Messages

  func handle(_ message: BackgroundWork.Message) throws {
    switch message {
    case .accepted(let run, let job, let manifest):
      step(.accepted(job, manifest), of: run)
      keepRequest(for: run)
    case .listed(let run, let job, let manifest): step(.listed(job, manifest), of: run)
    case .planned(let run, let result):
      work.planned(run)
      try step(.planning, of: run, result) { result in
        suspension.failures.plannedSomething()
        if case .planned(let plan) = result, !flow.gate.isStopping {
          delivery.record(resumePauses(of: run, plan), syncing: plan.unsynced)
        }
        return .planned(result)
      }
    case .written(let run, let report): step(.written(report), of: run)
    case .unwritten(let run, let error): try fail(.reporting, of: run, error)
    case .accessRefused(let error):
      if isAccessKnown { observe(.warning("the outbox's file system decides itself who may read manifests: \(error)")) }
      isAccessKnown = false
    case .rowsCancelled(let run, let rows, let told):
      let job = runs[run]?.name ?? ""
      for row in rows { observe(.entryCancelled(job: job, row: row)) }
      told.signal()
    case .cancelled(let run, let result):
      try step(.closing, of: run, result) { tally in
        suspension.failures.wroteSomething(now: Clock.monotonicSeconds)
        return .closed(tally)
      }
    }
  }

  /// Handles a message of the delivery queue.
  func handle(_ message: DeliveryQueue.Message) throws {
    switch message {
    case .committed, .rejected, .held, .failing, .noSpace: flow.handle(message)
    case .reported(let run, let result):
      try step(.reporting, of: run, result) { outcome in
        suspension.failures.wroteSomething(now: Clock.monotonicSeconds)
        return .delivered(outcome)
      }
    case .unstaged(let run, let error):
      if let run = runs[run] { step(.unstaged(try trouble(.reporting, of: run, error)), of: run.number) }
    case .logFailed(let run, let error):
      observe(.warning("entries.jsonl of job \(runs[run]?.name ?? "") lacks rows: \(error)"))
    case .broken(let error): throw error
    }
  }

  private func step(_ event: RunEvent, of run: Int) { perform(table.step(event, of: run, context)) }

  private func step<T>(
    _ stage: RunTable.Work, of run: Int, _ result: Result<T, any Error>, _ event: (T) -> RunEvent
  ) throws {
    guard runs[run] != nil else { return }
    switch result {
    case .success(let value): step(event(value), of: run)
    case .failure(let error): try fail(stage, of: run, error)
    }
  }

  private func fail(_ stage: RunTable.Work, of run: Int, _ error: any Error) throws {
    guard let live = runs[run] else { return }
    step(.failed(stage, try trouble(stage, of: live, error)), of: run)
  }

  // MARK: Effects

  func perform(_ effects: [RunTable.Effect]) {
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: RunTable.Effect) {
    switch effect {
    case .plan(let run, var request):
      if case .unfinished(let job) = request.source {
        request.isUnwanted = runs[run]?.known.unwanted != nil || table.queue.isCancelled(job)
      }
      let pauses = request.isAccepted ? [] : suspension.pauses.open(since: 0).prefix(PauseLog.totalLimit)
      work.plan(request, run: run, during: Array(pauses))
    case .add(let run, let entries, let transfers): flow.add(run, entries, transfers: transfers)
    case .close(let run, let entries, let plan):
      flow.close(run, entries, sparing: plan)
      // What another manifest replaces is still wanted.
      if case .closing(let closing)? = runs[run]?.phase, !closing.isSuperseded { delivery.giveUp(run: run) }
      flow.takeCancelled(planner.configuration)
    case .cancel(let run, let entries, let plan):
      flow.cancelAwaited(run, entries, sparing: plan)
      // Nothing of a replaced run is wanted any more.
      if plan == nil { delivery.giveUp(run: run) }
    case .removeEntries(let run): flow.remove(run)
    case .recordCancelled(let run, let entries): work.recordCancelled(run, entries)
    case .recordSuperseded(let run, let plan, let hasBegun): work.recordSuperseded(run, plan, hasBegun: hasBegun)
    case .writeReport(let run, let reporting, let pauses): work.writeReport(run, reporting, pauses: pauses)
    case .deliver(let report): delivery.deliver(report, isAlone: table.queue.isEmpty && runs.count == 1)
    case .closeLog(let run): delivery.forget(run: run)
    case .reuse(let index): planner.indexes.give(back: index)
    case .removeRequests(let run): removeRequests(for: run)
    case .reported(let reporting, let outcome):
      work.gallery?.ended(reporting, outcome)
      retention?.runEnded(delivered: outcome.counts.filtered - outcome.counts.reused)
      runEnded(reporting.plan.run.runID)
    case .ended(let runID): runEnded(runID)
    case .record(let changes): delivery.record(changes)
    case .hold(let subject, let reason, let what, let space, let latest):
      hold(subject, reason, what, space: space, latest: latest)
    case .holdPlanning(let job, let runID): flow.holds.hold(.planning(ByteKey(job)), as: .index(runID))
    case .release(let subject): flow.holds.release(subject)
    case .observe(let event): observe(event)
    }
  }

  /// Holds a subject, and reports that once.
  private func hold(_ subject: Holds.Subject, _ reason: String, _ what: String, space: Int?, latest: Double?) {
    let now = Clock.monotonicSeconds
    guard
      flow.holds.hold(
        subject, reason, space: space, isOfManifest: latest != nil, latest: latest ?? .infinity, now: now)
    else { return }
    if latest != nil { return observe(.warning("\(what) cannot end now, which is tried again: \(reason)")) }
    let seconds = Int((flow.holds[subject]?.due ?? now) - now)
    let again = space == nil ? "in \(seconds) s, and then again" : "when there is room"
    observe(.warning("\(what) cannot be worked on now, and is tried again \(again): \(reason)"))
  }

  // MARK: Errors

  /// The consequence of an error for a run. A lack of space suspends the queues. After other errors the work is tried
  /// again later: by `watch` always, by `run` when the machine failed. If not, the job stays in the ledger for the next
  /// start.
  /// - Throws: Errors of a damaged ledger.
  private func trouble(_ work: RunTable.Work, of run: JobRun, _ error: any Error) throws -> RunTable.Trouble {
    let isIndexDamaged = isDamageOfIndex(error, of: run)
    if error is CancellationError, work == .closing { return .stopped }
    // Recorded documents are not written again, with or without an index.
    if isIndexDamaged, work != .planning, !run.hasReport { return .indexUnreadable("\(error)") }
    if error.isOfLedger(planner.state), !error.isOfMachine { throw error }
    if let obstacle = error as? ManifestObstacle { return .manifestStays("\(obstacle)") }
    let now = Clock.monotonicSeconds
    if error.isOutOfSpace {
      let needed = (error as? SpaceNeeded)?.bytes
      // Space that only one job needs does not stop other jobs.
      suspension.waitForSpace(now: now, isForAll: needed == nil)
      return needed.map { .temporary("\(error)", space: $0) } ?? .noSpace
    }
    if case StopError.missing(let message) = error { return .missing(message) }
    if error.isOfMachineForOwnFile { suspension.failures.suspect(error) }
    let isTemporary = error.isOfMachineForOwnFile || table.queue.goal == .watch || isIndexDamaged
    return isTemporary ? .temporary("\(error)") : .permanent("\(error)")
  }

  /// Whether an error means that the index of a run is damaged or unreadable.
  private func isDamageOfIndex(_ error: any Error, of run: JobRun) -> Bool {
    guard let error = error as? SQLiteError, error.isDamage || error.isUnreadable,
      let runID = run.accepted?.job.runID
    else { return false }
    return error.path == planner.state.index(runID) || error.path == Database.inMemory
  }

  /// Reports a problem that does not concern a job.
  func report(trouble: String) {
    table.summary.hadTrouble = true
    observe(.warning(trouble))
  }

  // MARK: Stopping

  /// Begins to stop: cancels waiting entries, which stay in the ledger.
  func stop(_ reason: Gate.Stop) {
    flow.gate.stop = reason
    work.stop()
    flow.stop()
  }

  /// Stops background work, and waits a few seconds for its end.
  func shutDown() {
    work.shutDown()
    retention?.close()
  }

  /// Whether everything waits for closed hosts, and no host has answered for a number of seconds.
  func isCutOff(for seconds: Double) -> Bool {
    scheduler.hosts.unansweredTime >= Int(seconds * 1000) && flow.undelivered == 0 && scheduler.hosts.isCutOff
      && runs.values.allSatisfy { $0.isUnfinished && $0.stage != .planning }
  }

  /// Whether nothing is being delivered.
  var isDelivered: Bool {
    flow.undelivered == flow.held && !runs.values.contains(where: \.isUnderWay)
  }

  /// The times at which work is due that waits for nothing else, in seconds.
  var nextDue: [Double] {
    let hold =
      flow.holds.isEmpty
      ? nil
      : flow.holds.nextDue { subject in
        switch subject {
        case .planning: true
        case .ending(let run): runs[run]?.isUnderWay == false
        case .index, .results, .entry: false
        }
      }
    let wait = table.nextWaitEnd { pending.isInProgress(run: $0) }
    return [hold, wait, flow.suspectsDue, table.queue.asideEnd(after: Clock.monotonicSeconds)].compactMap { $0 }
  }
}
