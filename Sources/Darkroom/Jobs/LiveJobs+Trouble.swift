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
    hold(run, .planning(run.name), "\(error)", isPlanning: true, space: needed.bytes, now: now)
    planLater(run)
  }

  /// Plans a run again when its job is taken out of the queue again. Once it is in the ledger it is not accepted again.
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
    let subject = isPlanning ? Holds.Subject.planning(run.name) : .ending(run.number)
    hold(run, subject, "\(error)", isPlanning: isPlanning, now: Clock.monotonicSeconds)
    if isPlanning { planLater(run) }
  }

  /// Holds something of a run, and says so once.
  /// - Parameter space: As for `Holds.hold`.
  func hold(
    _ run: JobRun, _ subject: Holds.Subject, _ reason: String, isPlanning: Bool, space: Int? = nil, now: Double
  ) {
    guard holds.hold(subject, reason, space: space, now: now) else { return }
    let seconds = Int((holds[subject]?.due ?? now) - now)
    let again = space == nil ? "in \(seconds) s, and then again" : "when there is room"
    observe(
      .warning("\(run.what(isPlanning: isPlanning)) cannot be worked on now, and is tried again \(again): \(reason)"))
  }

  /// Holds a run whose report is there and whose manifest cannot be taken out of the inbox now. `watch` tries that for as long
  /// as it takes, `run` for a minute.
  private func hold(_ run: JobRun, _ obstacle: ManifestObstacle, now: Double) {
    let reason = "the manifest cannot be moved out of the inbox: \(obstacle)"
    let last = holds[.ending(run.number)]
    let since = last?.isOfManifest == true ? last?.since ?? now : now
    let limit = queue.goal == .watch ? .infinity : since + Patience.troubleLimit
    let isNew = holds.hold(.ending(run.number), reason, isOfManifest: true, latest: limit, now: now)
    if case .reporting(var reporting) = run.phase {
      let due = holds[.ending(run.number)]?.due ?? now
      reporting.report?.mayLeaveManifest = now + 0.1 >= limit || due >= limit
      run.phase = .reporting(reporting)
    }
    if isNew { observe(.warning("job \(run.name) cannot end now, which is tried again: \(reason)")) }
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
    // A quota may be what is in the way.
    let space = free < needed ? bytes : nil
    hold(run, .planning(run.name), failure.message, isPlanning: true, space: space, now: now)
    planLater(run)
  }

  /// Why something waits for the machine, in words; nil when nothing does.
  var machineTrouble: String? { suspension.failureReason ?? holds.machineTrouble }

  /// The jobs that wait because something is in their way, and why; also those that have ended and whose manifests cannot be
  /// moved out of the inbox: of a job whose report is there, with the manifest's identity.
  var waits: [(job: String, why: String, manifest: String?)] {
    var waits = holds.planning.map { (job: $0.job, why: $0.hold.reason, manifest: String?.none) }
    for run in runs.values {
      guard let why = holds.reason(ofRun: run.number) else { continue }
      let hasManifest = holds[.ending(run.number)]?.isOfManifest == true
      waits.append((job: run.name, why: why, manifest: hasManifest ? run.accepted?.manifest.identity : nil))
    }
    waits += queue.stuck.values.map { (job: $0.job, why: $0.why, manifest: $0.identity) }
    return waits.sorted { $0.job < $1.job }
  }

  /// When a job that is held may be tried again, in seconds; nil when none is.
  var nextHoldEnd: Double? {
    if holds.isEmpty { return nil }
    return holds.nextDue { subject in
      switch subject {
      case .planning: true
      case .ending(let run): runs[run]?.isUnderWay == false
      case .index, .results, .entry: false
      }
    }
  }
}

extension JobRun {
  /// What messages call what is being done.
  fileprivate func what(isPlanning: Bool) -> String { isPlanning ? source.description : "the report of job \(name)" }
}
