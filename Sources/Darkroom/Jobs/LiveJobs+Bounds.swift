import Foundation
import Scheduling
import System

/// What keeps the live runs from being faster, as far as it is told in their reports.
extension LiveJobs {
  /// Finds out what has bounded the runs since this was last done. To be called when the loop wakes, before it handles
  /// anything: what is so then was so while it waited.
  /// - Parameter waitBegan: When the loop began to wait, as `Clock.monotonicMilliseconds`.
  func sampleBounds(_ configuration: Configuration, waitBegan: Int) {
    let now = Clock.monotonicMilliseconds
    guard let sample = sampleClock.wakes(now: now, waitBegan: waitBegan), !isStopping, !runs.isEmpty else { return }
    var common = RunLoad()
    common.pause = pauseName
    common.isLoopBusy = sample.isBusy
    common.totalRate = configuration.transfer.maxRate
    common.processors = processors
    common.isDownloadLimitFound = configuration.downloads == .auto
    common.isFullOfUndelivered = !pending.hasRoom(besides: flow.holders)
    let (all, ofRuns) = pending.loads()
    let limits = pending.placeLimits
    common.downloads = RunLoad.Queue(all: all.downloads, limit: limits.downloads)
    common.filtrations = RunLoad.Queue(all: all.filtrations, limit: limits.filtrations)
    let backlogs = scheduler.hosts.backlogs(perHost: HostPlaces(configuration.transfer.perHost), now: waitBegan)
    for run in runs.values where run.boundedTime != nil {
      let load = load(of: run, ofRuns[run.number] ?? OperationLoad(), backlogs[run.number], common)
      run.boundedTime?.add(load?.bound, until: now)
    }
  }

  /// - Parameter common: What is the same for all runs.
  /// - Returns: nil when nothing of the run could be faster.
  private func load(of run: JobRun, _ operations: OperationLoad, _ backlog: JobBacklog?, _ common: RunLoad) -> RunLoad?
  {
    var load = common
    switch run.phase {
    case .planning(.manifest): load.stage = .planning
    case .planning(.unlisted), .waiting: load.stage = .ready
    case .planning(.list), .running, .closing: load.stage = .working
    case .reporting: return nil
    }
    guard load.stage == .working else { return load }
    load.downloads.own = operations.downloads
    load.filtrations.own = operations.filtrations
    (load.heldByTotalRate, load.heldByHostRate) = (operations.heldByTotalRate, operations.heldByHostRate)
    load.undelivered = run.entries?.undelivered ?? 0
    load.backlog = backlog ?? JobBacklog()
    load.host = load.backlog.host.flatMap(scheduler.shownName)
    load.onlyHost = load.backlog.onlyHost.flatMap(scheduler.shownName)
    load.deferred = scheduler.deferred(run: run.number).count
    load.dependents = scheduler.dependents(run: run.number)
    return load
  }

  /// What keeps entries from starting that have nothing to do with what runs; nil when nothing does.
  private var pauseName: String? {
    if suspension.isPaused {
      let first = suspension.pauses.open(since: 0).min { ($0.began, $0.lock) < ($1.began, $1.lock) }
      return first.map { $0.lock.isEmpty ? $0.cause : $0.lock }
    }
    if suspension.awaitsRoom { return PauseCause.disk(reason: "").kind }
    if suspension.isShortOfMemory { return PauseCause.memory(reason: "").kind }
    return nil
  }
}

extension EntryScheduler {
  /// The name of a host; nil for files.
  fileprivate func shownName(of host: Int) -> String? {
    let name = names.name(of: host)
    return name.isEmpty ? nil : name
  }

  /// How many entries of a job come after others that have not ended.
  fileprivate func dependents(run: Int) -> Int { jobs[run]?.dependencies?.waiting ?? 0 }
}
