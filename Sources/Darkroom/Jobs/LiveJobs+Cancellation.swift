import Ledger
import Scheduling
import System

/// Runs that nobody wants any more: their manifests were removed from the inbox, or they are to be cancelled. What runs of
/// them ends soon, what waits does not begin, paused or not, and what is done stays done.
extension LiveJobs {
  /// On a network file system a manifest must be missing for so long, in seconds.
  private static let networkTime = 60.0

  // MARK: What is not wanted

  /// Takes in a scan of the inbox.
  /// - Parameter settleTime: How long a file must be unchanged, in seconds.
  func findUnwanted(_ scan: InboxScan, in inbox: Inbox, settleTime: Double, now: Double) {
    guard !isStopping else { return }
    queue.liveFiles = Set(runs.values.compactMap(\.file))
    takeRequests(scan, inbox)
    let removed = missing.update(missingManifests(scan, inbox), now: now, time: Self.time(settleTime, inbox, missing))
    for number in removed { runs[number]?.unwanted = .removed }
  }

  private static func time(_ settleTime: Double, _ inbox: Inbox, _ missing: MissingFiles) -> Double {
    !missing.isEmpty && inbox.folder.isOnNetwork ? max(settleTime, networkTime) : settleTime
  }

  /// The runs whose manifests are missing, by their numbers.
  private func missingManifests(_ scan: InboxScan, _ inbox: Inbox) -> Set<Int> {
    var files: [FileName: [Int]] = [:]
    for run in runs.values where run.unwanted == nil && run.isUnfinished {
      guard let (job, manifest) = run.accepted, manifest.lies(in: inbox.path), !unknownRuns.contains(job.runID) else {
        continue
      }
      if let file = run.file { files[file, default: []].append(run.number) }
    }
    for manifest in scan.manifests {
      if files.isEmpty { return [] }
      files[manifest.key] = nil
    }
    for other in scan.ignored + scan.unexamined { files[other.file] = nil }
    guard !files.isEmpty, inbox.hasInstanceFile else { return [] }
    return Set(files.values.joined())
  }

  /// Finds out what is to be cancelled, and removes the requests of which nothing is left.
  private func takeRequests(_ scan: InboxScan, _ inbox: Inbox) {
    queue.cancelled = []
    guard !scan.cancelled.isEmpty else { return }
    // The names of the manifests; nil for what does not lie in the inbox.
    var known: [String: String?] = [:]
    for job in queue.unfinished { known[job.runID] = .some(try? JobManifest(text: job.details).file) }
    for run in runs.values {
      for key in run.cancelKeys { known[key] = .some(run.accepted?.manifest.inboxPath.map { Folder.name(of: $0) }) }
    }
    for manifest in scan.manifests {
      known[manifest.cancelKey] = .some(manifest.file)
    }
    for key in scan.cancelled {
      if let manifest = known[key] {
        if CancelRequest.isAllowed(key, manifest: manifest, in: inbox.folder) { queue.cancelled.insert(key) }
      } else if scan.unexamined.isEmpty {
        try? inbox.folder.remove(CancelRequest.name(key))
      }
    }
    for run in runs.values { findRequest(for: run) }
  }

  /// Finds out whether a run is to be cancelled.
  func findRequest(for run: JobRun) {
    guard run.unwanted == nil, !queue.cancelled.isDisjoint(with: run.cancelKeys) else { return }
    run.unwanted = .requested
  }

  /// Removes the requests to cancel a run that has ended. The next scan removes what cannot be removed now.
  func removeRequests(for run: JobRun) {
    // There may be one of its manifest, too, which no scan has seen yet.
    for key in run.cancelKeys where run.unwanted == .requested || queue.cancelled.contains(key) {
      try? planner.inbox.folder.remove(CancelRequest.name(key))
    }
  }

  // MARK: Cancelling

  /// Cancels what has not been done of a run.
  func cancel(_ number: Int, now: Double, _ configuration: Configuration) {
    guard let run = runs[number], close(run) else { return }
    observe(.jobCancelled(job: run.name, isRemoved: run.unwanted == .removed))
    collectCancelled(now: now, configuration)
  }

  /// Has a run end that is planned or runs: what waits does not begin, and what runs is cancelled.
  /// - Parameter awaited: Those of its operations that may end, if another run has superseded it. Default: nil, none has.
  /// - Returns: Whether it was one to be ended.
  @discardableResult
  func close(_ run: JobRun, awaiting awaited: JobRun.Awaited? = nil) -> Bool {
    let entries: RunEntries
    var hasBegun = false
    let now = Clock.monotonicSeconds
    switch run.phase {
    case .waiting(let plan):
      hasBegun = plan.job.state != .accepted
      entries = RunEntries(plan, activeTime: activeTime, now: now)
    case .running(let begun): (entries, hasBegun) = (begun, true)
    case .planning(.list(let begun)): entries = begun
    case .planning(.unlisted(let plan)): entries = RunEntries(plan, activeTime: activeTime, now: now)
    case .planning(.manifest), .closing, .reporting: return false
    }
    flow.close(run.number, entries, except: awaited?.positions ?? [])
    run.phase = .closing(
      .init(
        entries: entries, isSuperseded: awaited != nil, awaited: awaited ?? JobRun.Awaited(), hasBegun: hasBegun))
    return true
  }

  /// Decides on the entries of closing runs of which nothing runs any more, and cancels what was waited for long enough.
  /// Their operations may be in queues that are suspended, and end when these are not.
  func collectCancelled(now: Double, _ configuration: Configuration) {
    for (number, run) in runs where run.entries?.isClosing == true {
      endWait(for: run, now: now)
      for record in pending.takeIdle(run: number) { flow.decide(on: record, configuration) }
    }
  }

  /// Has what was not done of a cancelled or superseded run recorded.
  func recordCancelled(_ number: Int) {
    guard let run = runs[number], case .closing(var closing) = run.phase, !closing.isUnderWay else { return }
    closing.isUnderWay = true
    run.phase = .closing(closing)
    let plan = closing.entries.plan
    if closing.isSuperseded { return work.recordSuperseded(number, plan, hasBegun: closing.hasBegun) }
    if closing.entries.isSource { return reportCancelledSource(run, plan) }
    work.recordCancelled(number, plan, attempts: closing.entries.attempts)
  }

  /// Tells of rows of a cancelled run that have become durable.
  func tell(cancelled rows: [ReportRow], of number: Int) {
    guard let run = runs[number] else { return }
    for row in rows { observe(.entryCancelled(job: run.name, row: row)) }
  }

  /// Takes in that what was not done of a run is recorded, or why it is not.
  func recorded(_ number: Int, _ result: Result<JobTally, any Error>) throws {
    guard let run = runs[number], case .closing(var closing) = run.phase else { return }
    closing.isUnderWay = false
    run.phase = .closing(closing)
    if case .failure(let error) = result, error is CancellationError { return }
    try withTrouble(about: run, isPlanning: false) {
      if case .failure(let error) = result, isDamageOfIndex(error, of: run) {
        return planAnew(run, error, now: Clock.monotonicSeconds)
      }
      closing.entries.tally = try result.get()
      suspension.wroteSomething()
      holds.release(.ending(number))
      if closing.isSuperseded {
        finishSuperseded(run, closing.entries)
      } else {
        run.phase = .running(closing.entries)
      }
    }
  }
}

extension JobRun {
  /// Whether there may be something of it to be cancelled.
  var isUnfinished: Bool {
    switch phase {
    case .planning, .waiting, .running: true
    case .closing, .reporting: false
    }
  }

  /// By what it is known to those who want it cancelled; nothing until it is in the ledger.
  fileprivate var cancelKeys: [String] {
    guard let (job, manifest) = accepted else { return [] }
    guard manifest.inboxPath != nil else { return [job.runID] }
    return [job.runID, CancelRequest.key(ofManifest: manifest.file, identity: manifest.identity)]
  }
}
