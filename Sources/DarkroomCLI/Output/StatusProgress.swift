import Darkroom
import Foundation
import Model
import System

/// The progress of live jobs, with the numbers of the status, which `status` and the gallery show as well.
struct StatusProgress: ProgressSource {
  private var status: Status?

  /// The jobs that are waited for; nil for all.
  private var open: Set<ByteKey>?
  private var held: [String: Date] = [:]
  private var began: Double?
  private var window = ByteRateWindow()

  /// - Parameter open: The jobs that are waited for. Default: all that are live.
  mutating func update(_ status: Status, open: [String]? = nil) {
    if status.pauses != self.status?.pauses { window.reset() }
    (self.status, self.open) = (status, open.map { Set($0.map(ByteKey.init)) })
    let hosts = live.flatMap { $0.held_hosts ?? [] }.compactMap { host in
      (try? Date(host.until, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        .map { (host.host, $0) }
    }
    held = Dictionary(hosts, uniquingKeysWith: max)
  }

  /// One run of each job: the one that goes on, if a later one is being planned or it has replaced an earlier one.
  private var live: [Status.Job] {
    guard let jobs = status?.jobs.filter({ open?.contains(ByteKey($0.job)) ?? true }) else { return [] }
    var names = Set<ByteKey>()
    return (jobs.filter { !$0.isReplaced } + jobs.filter(\.isReplaced)).filter {
      names.insert(ByteKey($0.job)).inserted
    }
  }

  mutating func snapshot(at now: Double) -> ProgressSnapshot? {
    let live = live
    guard let status, !(open ?? Set(live.map { ByteKey($0.job) })).isEmpty else {
      began = nil
      window.reset()
      return nil
    }
    let start = began ?? now
    began = start
    var snapshot = ProgressSnapshot()
    snapshot.jobs = live.map(ProgressSnapshot.Job.init)
    let waiting = (open ?? []).subtracting(live.map { ByteKey($0.job) }).sorted()
    snapshot.jobs += waiting.map { .init(name: $0.text, note: "waiting") }
    snapshot.total = snapshot.jobs.reduce(0) { $0 + ($1.total ?? 0) }
    snapshot.ended = snapshot.jobs.reduce(0) { $0 + $1.ended }
    snapshot.failed = snapshot.jobs.reduce(0) { $0 + $1.failed }
    snapshot.deferred = live.reduce(0) { $0 + ($1.deferred ?? 0) }
    snapshot.elapsed = now - start
    snapshot.isStopping = status.stopping == true
    snapshot.pauses = status.pauses.map(\.description)
    snapshot.held = held.map { .init(host: $0.key, secondsLeft: $0.value.timeIntervalSinceNow) }
      .filter { $0.secondsLeft > 0 }.sorted { ($0.secondsLeft, $0.host) < ($1.secondsLeft, $1.host) }
    snapshot.closed = (status.closed_hosts ?? []).map(\.host)
    guard status.pauses.isEmpty, status.running, !snapshot.isStopping else { return snapshot }
    let rates = live.compactMap(\.rate)
    if !rates.isEmpty { snapshot.rate = rates.reduce(0, +) }
    snapshot.secondsLeft = live.compactMap(\.seconds_left).max()
    snapshot.byteRate = window.add(live.reduce(0) { $0 + ($1.transfers?.total.bytes ?? 0) }, at: now)
    return snapshot
  }
}

extension Status.Job {
  fileprivate var isReplaced: Bool { state == "replaced" }
}

extension ProgressSnapshot.Job {
  fileprivate init(_ job: Status.Job) {
    self.init(
      name: job.job, total: job.total, ended: job.ended ?? 0, failed: job.failed ?? 0,
      note: job.state == "running" ? nil : job.state.visible)
  }
}
