import Ledger
import Scheduling
import System

/// What goes wrong with one job: it is held and tried again, and the others go on.
extension LiveJobs {
  /// Does something that is about one job. Want of space suspends the queues, and it is tried again. So it is, after a
  /// while, after other trouble: by `watch` always, by `run` when the machine is to blame; otherwise the job stays in the
  /// ledger for the next start.
  /// - Parameter isPlanning: Whether the job is being planned, or else its report delivered.
  /// - Throws: `SQLiteError` when the ledger is damaged.
  func withTrouble(about run: JobRun, isPlanning: Bool, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error where error.isOfLedger(planner.state) && !error.isOfMachine {
      throw error
    } catch let obstacle as ManifestObstacle {
      hold(run, obstacle, now: Clock.monotonicSeconds)
    } catch let error where error.isOutOfSpace {
      waitForSpace(run, isPlanning: isPlanning, error)
    } catch StopError.missing(let message) {
      summary.isMissing = true
      observe(.warning(message))
      remove(run)
    } catch let error
      where error.isOfMachineForOwnFile || queue.goal == .watch || isPlanning && isDamageOfIndex(error, of: run)
    {
      if error.isOfMachineForOwnFile { suspension.suspect(error) }
      hold(run, isPlanning: isPlanning, error)
    } catch {
      summary.hadTrouble = true
      observe(.warning("\(run.what(isPlanning: isPlanning)) cannot be worked on now: \(error)"))
      if run.accepted != nil {
        queue.block(run.name)
      } else if case .dropped(let manifest) = run.source {
        queue.pass(manifest.file, identity: manifest.identity.text)
      }
      remove(run)
    }
  }

  private func waitForSpace(_ run: JobRun, isPlanning: Bool, _ error: any Error) {
    let now = Clock.monotonicSeconds
    guard let needed = error as? SpaceNeeded else {
      suspension.waitForSpace(now: now)
      if isPlanning { planLater(run) }
      return
    }
    // It is more than others need.
    suspension.waitForSpace(now: now, isForAll: false)
    warn(run, isPlanning: true, "\(error)", last: queue.holds[run.name], "when there is room")
    queue.hold(run.name, JobHold("\(error)", after: queue.holds[run.name], space: needed.bytes, now: now))
    planLater(run)
  }

  /// Has a run planned again when its job is taken out of the queue again. Once it is in the ledger it is not accepted again.
  private func planLater(_ run: JobRun) {
    remove(run)
    if let job = run.accepted?.job { return retry(run, job) }
    var order: Int?
    if case .unfinished(let job) = run.source { order = knownRuns[job.runID]?.order }
    queue.retry(run.source, order: order)
  }

  /// Puts the job of a run back into the queue. What is known of the run is kept.
  func retry(_ run: JobRun, _ job: LedgerJob) {
    knownRuns[job.runID] = run.known
    knownRuns[job.runID]?.order = run.order
    queue.retry(.unfinished(job), order: run.order)
  }

  private func hold(_ run: JobRun, isPlanning: Bool, _ error: any Error) {
    let last = isPlanning ? queue.holds[run.name] : run.hold
    let hold = JobHold("\(error)", after: last, now: Clock.monotonicSeconds)
    warn(run, isPlanning: isPlanning, hold, last: last)
    if isPlanning {
      queue.hold(run.name, hold)
      planLater(run)
    } else {
      (run.hold, run.manifestSince) = (hold, nil)
    }
  }

  /// Has a run wait whose report is there and whose manifest cannot be taken out of the inbox now. `watch` tries that for as
  /// long as it takes, `run` for a minute.
  private func hold(_ run: JobRun, _ obstacle: ManifestObstacle, now: Double) {
    let last = run.hold
    var hold = JobHold("the manifest cannot be moved out of the inbox: \(obstacle)", after: last, now: now)
    let since = run.manifestSince ?? now
    run.manifestSince = since
    if queue.goal != .watch {
      let limit = since + Patience.troubleLimit
      if case .finishing(var finishing) = run.phase {
        finishing.report?.mayLeaveManifest = now + 0.1 >= limit || hold.due >= limit
        run.phase = .finishing(finishing)
      }
      hold.due = min(hold.due, max(now, limit))
    }
    run.hold = hold
    if hold.reason != last?.reason {
      observe(.warning("job \(run.name) cannot end now, which is tried again: \(hold.reason)"))
    }
  }

  /// Says once what holds a job, and for how long.
  func warn(_ run: JobRun, isPlanning: Bool, _ hold: JobHold, last: JobHold?) {
    let wait = LocalBackoff.seconds(attempts: hold.attempts)
    warn(run, isPlanning: isPlanning, hold.reason, last: last, "in \(Int(wait)) s, and then again")
  }

  /// Says once what holds a job.
  private func warn(_ run: JobRun, isPlanning: Bool, _ reason: String, last: JobHold?, _ again: String) {
    guard reason != last?.reason else { return }
    observe(
      .warning("\(run.what(isPlanning: isPlanning)) cannot be worked on now, and is tried again \(again): \(reason)"))
  }

  /// A run cannot be worked on by anybody: its manifest, if it is still in the inbox, is a new one.
  func setAside(_ run: JobRun, _ damaged: DamagedJob) {
    summary.hadTrouble = true
    observe(.warning(damaged.description))
    if let manifest = run.accepted?.manifest { queue.forget(manifest) }
    remove(run)
  }

  /// Holds the run of a list for which there is no room in the state folder: other jobs need less.
  func hold(_ run: JobRun, listOf bytes: Int, _ failure: EntryFailure) {
    let now = Clock.monotonicSeconds
    let needed = bytes + planner.configuration.minFree
    let free = (try? Folder.freeSpace(planner.state.path)) ?? 0
    let last = queue.holds[run.name]
    // A quota may be what is in the way.
    let hold = JobHold(failure.message, after: last, space: free < needed ? bytes : nil, now: now)
    if hold.space == nil {
      warn(run, isPlanning: true, hold, last: last)
    } else {
      warn(run, isPlanning: true, hold.reason, last: last, "when there is room")
    }
    queue.hold(run.name, hold)
    planLater(run)
  }

  /// Why something waits for the machine, in words; nil when nothing does.
  var machineTrouble: String? {
    suspension.failureReason
      ?? runs.values.filter { $0.manifestSince == nil }.compactMap(\.waitReason).min()
      ?? queue.holds.values.filter { $0.space == nil }.map(\.reason).min()
  }

  /// The jobs that wait because something is in their way, and why; also those that have ended and whose manifests cannot be
  /// moved out of the inbox: of a job whose report is there, with the manifest's identity.
  var waits: [(job: String, why: String, manifest: String?)] {
    var waits = queue.holds.map { (job: $0.key, why: $0.value.reason, manifest: String?.none) }
    for run in runs.values {
      guard let why = run.waitReason else { continue }
      let manifest = run.manifestSince == nil ? nil : run.accepted?.manifest.identity
      waits.append((job: run.name, why: why, manifest: manifest))
    }
    waits += queue.stuck.values.map { (job: $0.job, why: $0.why, manifest: $0.identity) }
    return waits.sorted { $0.job < $1.job }
  }

  /// When a job that is held may be tried again, in seconds; nil when none is.
  var nextHoldEnd: Double? {
    guard !queue.holds.isEmpty || runs.values.contains(where: { $0.hold != nil }) else { return nil }
    let reports = runs.values.compactMap { run -> Double? in
      switch run.phase {
      case .cancelling(let cancelling): cancelling.isUnderWay ? nil : run.hold?.due
      case .finishing(let finishing): finishing.isUnderWay ? nil : run.hold?.due
      case .planning, .fetching, .ready, .running: nil
      }
    }
    return (reports + queue.holds.values.filter { $0.space == nil }.map(\.due)).min()
  }
}

extension JobRun {
  /// What messages call what is being done.
  fileprivate func what(isPlanning: Bool) -> String { isPlanning ? source.description : "the report of job \(name)" }
}
