import Foundation
import Model
import Operations
import Scheduling
import System

extension LiveJobs {
  /// Limits sampling to every 20 ms, and measures how long the loop waits. Times are milliseconds.
  struct SampleClock {
    static let interval = 20
    private var last: Int
    private var waited = 0

    init(now: Int) { last = now }

    /// - Returns: Whether the loop has waited for less than a quarter of the time; nil when no sample is due.
    mutating func wakes(now: Int, waitBegan: Int) -> Bool? {
      waited += max(0, now - waitBegan)
      guard now - last >= Self.interval else { return nil }
      defer { (last, waited) = (now, 0) }
      return 4 * waited < now - last
    }
  }

  /// Foundation reads files of the control group for it each time.
  private static let processors = ProcessInfo.processInfo.activeProcessorCount

  /// Samples the bottlenecks of the runs. Called when the loop wakes, before it handles messages, so that the state is
  /// that of the wait. The result counts for the time since the last sample.
  /// - Parameter waitBegan: When the loop began to wait, as `Clock.monotonicMilliseconds`.
  func sampleBottlenecks(_ configuration: Configuration, waitBegan: Int) {
    let now = Clock.monotonicMilliseconds
    guard let isLoopBusy = sampleClock.wakes(now: now, waitBegan: waitBegan), !flow.gate.isStopping, !runs.isEmpty
    else { return }
    var sample = OccupancySample()
    var own: [Int: OccupancySample.Occupancy] = [:]
    for (id, chain) in pending.inProgress {
      sample.all.add(chain)
      own[id.run, default: .init()].add(chain)
    }
    sample.all.deliveries = flow.holders
    (sample.downloadLimit, sample.filtrationLimit) = pending.room.limits
    sample.processors = Self.processors
    sample.isDownloadLimitAutomatic = configuration.downloads == .auto
    sample.maxRate = configuration.transfer.maxRate
    sample.isLoopBusy = isLoopBusy
    let (backlogs, perHost) = (scheduler.hosts.backlogs(), configuration.transfer.perHost)
    let pause = suspension.pauses.oldest.map {
      Bottleneck(.pause, name: $0.cause.lock.isEmpty ? $0.cause.kind : $0.cause.lock)
    }
    // The run is changed in place: another reference to it or to the dictionary would cause a copy.
    for number in Array(table.runs.keys) where table.runs[number]?.bottlenecks != nil {
      sample.own = own[number] ?? .init()
      sample.backlog = backlogs[number] ?? .init()
      let found = pause ?? table.runs[number].flatMap { bottleneck(of: $0, &sample, perHost) }
      table.runs[number]?.bottlenecks?.add(found, until: now)
    }
  }

  /// - Parameter sample: Contains the values that do not depend on the run.
  private func bottleneck(of run: JobRun, _ sample: inout OccupancySample, _ perHost: HostLimit) -> Bottleneck? {
    switch run.phase {
    case .planning(.manifest): return Bottleneck(.planning)
    case .planning(.unlisted), .waiting: return Bottleneck(.otherJobs, option: "--jobs")
    case .reporting: return nil
    case .planning(.list), .running, .closing: break
    }
    sample.own.deliveries = run.entries?.undelivered ?? 0
    let host = sample.backlog.host ?? HostScheduler.files
    sample.host = host == HostScheduler.files ? nil : scheduler.shownName(of: host)
    sample.hostBottleneck = sample.backlog.blocked.map { [hosts = scheduler.hosts] in
      Bottleneck(
        atHost: sample.host, hosts.throttle(of: $0), hosts.breaker(of: $0), scheduler.allowance(of: $0), perHost)
    }
    sample.deferred = scheduler.deferred(run: run.number).count
    sample.dependents = scheduler.jobs[run.number]?.dependencies?.waiting ?? 0
    return sample.bottleneck
  }
}

extension OccupancySample.Occupancy {
  fileprivate mutating func add(_ chain: PendingOperations.Chain) {
    guard chain.isDownloading else { return filtrations += 1 }
    downloads += 1
    switch chain.operations?.download.progress.rateHold {
    case nil, .some(.none): break
    case .total: heldByTotalRate += 1
    case .host: heldByHostRate += 1
    }
  }
}
