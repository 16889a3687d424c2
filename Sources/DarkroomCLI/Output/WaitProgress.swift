import Darkroom
import Foundation
import Model

/// The progress of jobs that an instance works on, from its status.
struct WaitProgress: ProgressSource {
  private var status: Status?
  private var open: Set<String> = []
  private var held: [(host: String, until: Date)] = []
  private var began: Double?
  private var window = RateWindow()

  /// The counts of jobs that are no longer open.
  private var ofEndedJobs = (total: 0, ended: 0, failed: 0, bytes: 0)
  private var last: [String: ProgressSnapshot.Job] = [:]
  private var lastBytes: [String: Int] = [:]

  /// - Parameter open: The jobs that are waited for.
  mutating func update(_ status: Status, open: [String]) {
    self.open = Set(open)
    let jobs = status.jobs.filter { self.open.contains($0.job) }
    for (name, job) in last where !self.open.contains(name) {
      ofEndedJobs.total += job.total ?? 0
      ofEndedJobs.ended += job.total ?? job.ended
      ofEndedJobs.failed += job.failed
      ofEndedJobs.bytes += lastBytes.removeValue(forKey: name) ?? 0
      last[name] = nil
    }
    for job in jobs where job.state != "replaced" {
      last[job.job] = ProgressSnapshot.Job(job)
      lastBytes[job.job] = job.transfers?.total.bytes ?? 0
    }
    if status.pauses != self.status?.pauses { window.reset() }
    held = jobs.flatMap { $0.held_hosts ?? [] }.compactMap { host in
      (try? Date(host.until, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        .map { (host.host, $0) }
    }
    self.status = status
  }

  mutating func snapshot(at now: Double) -> ProgressSnapshot? {
    guard let status, !open.isEmpty else { return nil }
    let start = began ?? now
    began = start
    let known = status.jobs.compactMap { last[$0.job] == nil ? nil : $0.job }
    var snapshot = ProgressSnapshot()
    var names = Set<String>()
    snapshot.jobs = known.compactMap { names.insert($0).inserted ? last[$0] : nil }
    snapshot.jobs += open.subtracting(names).sorted().map { .init(name: $0, note: "waiting") }
    snapshot.total = snapshot.jobs.reduce(ofEndedJobs.total) { $0 + ($1.total ?? 0) }
    snapshot.ended = snapshot.jobs.reduce(ofEndedJobs.ended) { $0 + $1.ended }
    snapshot.failed = snapshot.jobs.reduce(ofEndedJobs.failed) { $0 + $1.failed }
    snapshot.deferred = status.jobs.reduce(0) { $0 + (names.contains($1.job) ? $1.deferred ?? 0 : 0) }
    snapshot.elapsed = now - start
    snapshot.pauses = status.pauses.map(\.description)
    let hosts = Dictionary(held.map { ($0.host, $0.until.timeIntervalSinceNow) }, uniquingKeysWith: max)
    snapshot.held = hosts.filter { $0.value > 0 }.map { .init(host: $0.key, secondsLeft: $0.value) }
      .sorted { ($0.secondsLeft, $0.host) < ($1.secondsLeft, $1.host) }
    snapshot.closed = (status.closed_hosts ?? []).map(\.host)
    let bytes = lastBytes.values.reduce(ofEndedJobs.bytes, +)
    if status.pauses.isEmpty, status.running, let rates = window.add(ended: snapshot.ended, bytes: bytes, at: now) {
      snapshot.set(rates)
    }
    return snapshot
  }
}

extension ProgressSnapshot.Job {
  fileprivate init(_ job: Status.Job) {
    let ended = (job.filtered ?? 0) + (job.failed ?? 0) + (job.cancelled ?? 0)
    self.init(
      name: job.job, total: job.total, ended: ended, failed: job.failed ?? 0,
      note: job.state == "running" ? nil : job.state.visible)
  }
}
