import Darkroom
import Model
import System

/// The progress of the live jobs, from events.
struct JobsProgress: ProgressSource {
  private struct Job {
    let rank: Int
    var progress: ProgressSnapshot.Job
    var endedBefore = 0
    var deferred = 0
  }

  private var jobs: [String: Job] = [:]
  private var added = 0
  private var pauses: [PauseCause] = []

  /// When hosts are asked again, in seconds of the monotonic clock.
  private var held: [String: Double] = [:]

  /// Hosts that do not answer, in the order in which they stopped.
  private var closed: [String] = []

  /// Rows of jobs that have ended since the last time without live jobs.
  private var ofEndedJobs = (total: 0, ended: 0, new: 0)
  private var failed = 0
  private var bytes = 0
  private var began = 0.0
  private var window = RateWindow()

  /// - Parameter now: Seconds of the monotonic clock.
  mutating func apply(_ event: Event, at now: @autoclosure () -> Double = Clock.monotonicSeconds) {
    switch event {
    case .jobAccepted(let job, _):
      // It may replace a live job.
      if jobs[job] == nil { add(.init(name: job, note: "planning"), at: now()) }
    case .jobFetching(let job, _):
      if jobs[job]?.progress.total == nil { jobs[job]?.progress.note = "fetching its list" }
    case .jobStarted(let job, let total, let ended, let deferred):
      add(.init(name: job, total: total, ended: ended), at: now())
      jobs[job]?.endedBefore = ended
      jobs[job]?.deferred = deferred
    case .entryEnded(let job, let row, let deferred):
      jobs[job]?.progress.ended += 1
      jobs[job]?.deferred = deferred
      bytes += row.downloadedBytes
      if row.failure != nil {
        jobs[job]?.progress.failed += 1
        failed += 1
      }
    case .entryCancelled(let job, _): jobs[job]?.progress.ended += 1
    case .entryDeferred(let job, _, _, _, _, _, let deferred): jobs[job]?.deferred = deferred
    case .jobCancelled(let job, _): jobs[job]?.progress.note = "being cancelled"
    case .hostHeld(let host, let seconds, _):
      let now = now()
      held = held.filter { $0.value > now }
      held[host] = max(held[host] ?? 0, now + seconds)
    case .hostClosed(let host, _): closed.append(host)
    case .hostOpened(let host), .hostGivenUp(let host, _): closed.removeAll { $0 == host }
    case .paused(let cause):
      // A lock whose reason was changed is another cause.
      pauses.removeAll { $0.kind == cause.kind && $0.lock == cause.lock }
      pauses.append(cause)
    case .causeGone(let cause, let remaining):
      pauses.removeAll { remaining.isEmpty || $0.kind == cause.kind && $0.lock == cause.lock }
      window.reset()
    case .jobEnded(let summary):
      // Otherwise another run of the job is live.
      if summary.isLast { end(summary.job) }
    default: break
    }
  }

  private mutating func add(_ job: ProgressSnapshot.Job, at now: Double) {
    if jobs.isEmpty {
      (ofEndedJobs, failed, bytes, began) = ((0, 0, 0), 0, 0, now)
      window.reset()
    }
    let rank = jobs[job.name]?.rank ?? added
    added += 1
    jobs[job.name] = Job(rank: rank, progress: job)
  }

  private mutating func end(_ job: String) {
    guard let ended = jobs.removeValue(forKey: job) else { return }
    ofEndedJobs.total += ended.progress.total ?? 0
    ofEndedJobs.ended += ended.progress.ended
    ofEndedJobs.new += ended.progress.ended - ended.endedBefore
    // There is no further news of a host without entries.
    if jobs.isEmpty { closed = [] }
  }

  mutating func snapshot(at now: Double) -> ProgressSnapshot? {
    guard !jobs.isEmpty else { return nil }
    let live = jobs.values.sorted { $0.rank < $1.rank }
    var snapshot = ProgressSnapshot()
    snapshot.jobs = live.map(\.progress)
    snapshot.total = live.reduce(ofEndedJobs.total) { $0 + ($1.progress.total ?? 0) }
    snapshot.ended = live.reduce(ofEndedJobs.ended) { $0 + $1.progress.ended }
    snapshot.deferred = live.reduce(0) { $0 + $1.deferred }
    (snapshot.failed, snapshot.elapsed) = (failed, now - began)
    snapshot.pauses = pauses.map(\.description)
    snapshot.held = held.filter { $0.value > now }.map { .init(host: $0.key, secondsLeft: $0.value - now) }
      .sorted { ($0.secondsLeft, $0.host) < ($1.secondsLeft, $1.host) }
    snapshot.closed = closed
    let new = live.reduce(ofEndedJobs.new) { $0 + $1.progress.ended - $1.endedBefore }
    if pauses.isEmpty, let rates = window.add(ended: new, bytes: bytes, at: now) { snapshot.set(rates) }
    return snapshot
  }
}

extension ProgressSnapshot {
  /// Fills in the figures that follow from rates.
  mutating func set(_ rates: (entries: Double, bytes: Double)) {
    if rates.bytes > 0 { byteRate = rates.bytes }
    guard rates.entries > 0 else { return }
    rate = rates.entries
    // Deferred entries take their own time.
    let left = total - ended - deferred
    if left > 0 { secondsLeft = Double(left) / rates.entries }
  }
}

extension JobSummary {
  /// Whether no other run of the job is live.
  var isLast: Bool { state != .superseded && !isRejectedReplacement }
}
