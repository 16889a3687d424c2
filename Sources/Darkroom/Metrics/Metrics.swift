import Model

/// Counts what has happened in this process, for Prometheus. Nothing is counted by job, host or entry, of which there may be
/// any number.
struct Metrics: Equatable {
  /// When the process began, in seconds since 1970.
  let started: Double

  private(set) var rows = JobTally()

  /// The failed rows by error code.
  private(set) var failures: [String: Int] = [:]

  /// The sources that servers have confirmed to be unchanged, and their bytes.
  private(set) var confirmedSources = 0
  private(set) var confirmedBytes = 0

  /// The times of downloads that succeeded. Sources that were not downloaded for their row do not count.
  private(set) var downloads = DurationHistogram()

  /// The times of filtrations that succeeded. Reused results do not count.
  private(set) var filtrations = DurationHistogram()

  private(set) var jobs: [JobOutcome.State: Int] = [:]

  /// When a job last ended, and when one last succeeded, in seconds since 1970; 0 for never.
  private(set) var lastEnd = 0.0
  private(set) var lastSuccess = 0.0

  /// The tries to deliver notifications by `NotificationResult.name`.
  private(set) var notifications: [String: Int] = [:]

  /// By the kinds of causes.
  private(set) var pauses: [String: Pause] = [:]

  /// How long the queues were suspended for causes of one kind.
  struct Pause: Equatable {
    /// The number of causes that hold now.
    private(set) var causes = 0
    private var time = ActiveTime()

    mutating func add(_ change: Int, now: Int) {
      causes += change
      time.pause(causes > 0, now: now)
    }

    /// All in all, in seconds.
    func seconds(now: Int) -> Double { Double(time.paused(now)) / 1000 }
  }

  init(started: Double) { self.started = started }

  /// - Parameters:
  ///   - now: Milliseconds of the monotonic clock.
  ///   - wall: Seconds since 1970.
  mutating func add(_ event: Event, now: Int, wall: Double) {
    switch event {
    case .entryEnded(_, let row, _), .entryCancelled(_, let row): add(row)
    case .jobEnded(let summary):
      jobs[summary.state, default: 0] += 1
      if summary.isLast { lastEnd = wall }
      if summary.isSuccess { lastSuccess = wall }
    case .notification(_, let result): notifications[result.name, default: 0] += 1
    case .paused(let cause): pauses[cause.kind, default: Pause()].add(1, now: now)
    case .causeGone(let cause, _): pauses[cause.kind, default: Pause()].add(-1, now: now)
    case .pausedByLocks(let count, _): pauses[PauseCause.lockKind, default: Pause()].add(count, now: now)
    case .locksGone(let count, _, _): pauses[PauseCause.lockKind, default: Pause()].add(-count, now: now)
    default: break
    }
  }

  private mutating func add(_ row: ReportRow) {
    rows.add(row, at: row.index)
    if let failure = row.failure { failures[failure.code, default: 0] += 1 }
    if row.isSourceConfirmed {
      confirmedSources += 1
      confirmedBytes += row.source?.bytes ?? 0
    }
    // A source that is used without a request takes no time.
    if row.downloadedBytes > 0, let time = row.timings.download, time > 0 { downloads.add(seconds: time / 1000) }
    if !row.isReused, let time = row.timings.filter { filtrations.add(seconds: time / 1000) }
  }
}

/// Durations, counted by ranges.
struct DurationHistogram: Equatable {
  /// The upper bounds of the ranges but the last, in seconds.
  static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

  /// The number of durations in each range.
  private(set) var counts = Array(repeating: 0, count: bounds.count + 1)

  /// In seconds.
  private(set) var sum = 0.0

  mutating func add(seconds: Double) {
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }
}
