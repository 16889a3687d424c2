import Foundation

/// The outcome of a run, without its rows.
package struct JobOutcome: Sendable, Equatable, Codable {
  package enum State: String, Sendable, Codable, CaseIterable {
    case succeeded, partial, failed, rejected
    /// Its manifest was removed, or it was cancelled, before all entries had ended.
    case cancelled
    /// A later run of the same job replaced it before it had ended.
    case superseded
  }

  /// The numbers of rows by state.
  package struct Counts: Sendable, Equatable, Codable {
    package var total = 0
    package var filtered = 0
    package var failed = 0
    package var cancelled = 0
    package var reused = 0

    package init(total: Int = 0, filtered: Int = 0, failed: Int = 0, cancelled: Int = 0, reused: Int = 0) {
      (self.total, self.filtered, self.failed) = (total, filtered, failed)
      (self.cancelled, self.reused) = (cancelled, reused)
    }

    package var state: JobOutcome.State {
      if cancelled > 0 {
        .cancelled
      } else if filtered == total {
        .succeeded
      } else {
        filtered > 0 ? .partial : .failed
      }
    }
  }

  /// The numbers of bytes downloaded and written.
  package struct Bytes: Sendable, Equatable, Codable {
    package var downloaded = 0
    package var written = 0

    package init() {}
  }

  /// A reason why the manifest was rejected.
  package struct Problem: Sendable, Equatable, Codable {
    package let code: String
    package let message: String
    package let location: String

    /// Why the source could not be downloaded; nil for other problems.
    package var failure: SourceFailure?

    // The ledger stores the location as `place`.
    private enum CodingKeys: String, CodingKey { case code, message, location = "place", failure }

    package init(code: String, message: String, location: String, failure: SourceFailure? = nil) {
      self.code = code
      self.message = message
      self.location = location
      self.failure = failure
    }
  }

  /// Why a manifest's source could not be downloaded.
  package struct SourceFailure: Sendable, Equatable, Codable {
    package let stage: String
    package let code: String
    package let message: String
    package let httpStatus: Int?
    package let isRetryable: Bool

    package init(stage: String, code: String, message: String, httpStatus: Int?, isRetryable: Bool) {
      self.stage = stage
      self.code = code
      self.message = message
      self.httpStatus = httpStatus
      self.isRetryable = isRetryable
    }
  }

  package let state: State
  package let counts: Counts
  package let bytes: Bytes
  package let transfers: Transfers
  package let problems: [Problem]

  /// Milliseconds since 1970, UTC.
  package let finished: Int

  /// The duration; nil for a run that an earlier version recorded.
  package var elapsed: RunTime.Elapsed?

  /// The comparison of the rows with those of the job's last run; nil when there was none.
  package var sinceLast: SinceLast?

  /// The bottlenecks of the run, the largest share first; nil when none is known.
  package var bottlenecks: [Bottleneck]?

  /// The periods in which hosts of the run did not answer and entries waited, as recorded by the process that ended the
  /// run; nil when there were none.
  package var holds: [HostHold]?

  /// The results of damaged pictures; nil when there are none.
  package var damaged: DamagedResults?

  /// Whether the run's manifest should have replaced that of a live run and was rejected. Its report then goes to
  /// `history`. nil for no.
  package var isRejectedReplacement: Bool?

  package init(
    state: State, counts: Counts, bytes: Bytes, transfers: Transfers, problems: [Problem], finished: Int,
    elapsed: RunTime.Elapsed? = nil, sinceLast: SinceLast? = nil, bottlenecks: [Bottleneck]? = nil,
    holds: [HostHold]? = nil, damaged: DamagedResults? = nil, isRejectedReplacement: Bool? = nil
  ) {
    self.state = state
    self.counts = counts
    self.bytes = bytes
    self.transfers = transfers
    self.problems = problems
    self.finished = finished
    self.elapsed = elapsed
    self.sinceLast = sinceLast
    self.bottlenecks = bottlenecks
    self.holds = holds
    self.damaged = damaged
    self.isRejectedReplacement = isRejectedReplacement
  }
}

extension JobOutcome {
  /// The text that the ledger stores.
  /// - Throws: `EncodingError`.
  package var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// - Throws: `DecodingError`.
  package init(text: String) throws { self = try JSONDecoder().decode(JobOutcome.self, from: Data(text.utf8)) }

  /// The outcome of a job whose rows are all durable.
  /// - Parameters:
  ///   - isFirst: Whether there was no run to compare this one with.
  ///   - bottlenecks: The bottlenecks of the run. Default: none is known.
  ///   - holds: The periods in which its hosts did not answer. Default: none.
  package init(
    _ tally: JobTally, _ transfers: Transfers, at now: Int, taking elapsed: RunTime.Elapsed? = nil,
    isFirst: Bool = true, bottlenecks: [Bottleneck] = [], holds: [HostHold] = []
  ) {
    self.init(
      state: tally.counts.state, counts: tally.counts, bytes: tally.bytes, transfers: transfers, problems: [],
      finished: now, elapsed: elapsed, sinceLast: isFirst ? nil : tally.changes,
      bottlenecks: bottlenecks.isEmpty ? nil : bottlenecks, holds: holds.isEmpty ? nil : holds,
      damaged: tally.damaged.count > 0 ? tally.damaged : nil)
  }

  /// The duration of the run in milliseconds: the difference of the times in the report, unless the wall clock was set
  /// during the run.
  /// - Parameter accepted: When it began, in milliseconds since 1970.
  package func duration(since accepted: Int) -> Int {
    let shown = finished - accepted
    guard let elapsed else { return max(0, shown) }
    // A slewed clock may be off by 500 ppm, and the measurement begins a little later.
    return abs(shown - elapsed.total) <= Self.clockTolerance + elapsed.total / 1000 ? max(0, shown) : elapsed.total
  }

  private static let clockTolerance = 2000

  /// When the run ended, as reports show it: by the wall clock or, if that was set back to before the run began, the
  /// beginning plus the duration.
  /// - Parameter accepted: When it began, in milliseconds since 1970.
  package func finished(since accepted: Int) -> Int {
    finished < accepted ? accepted + duration(since: accepted) : finished
  }

  /// The same outcome, for a run that a later one has superseded.
  package var superseded: JobOutcome {
    JobOutcome(
      state: .superseded, counts: counts, bytes: bytes, transfers: transfers, problems: problems, finished: finished,
      elapsed: elapsed)
  }

  /// Whether the next run is compared with this one, which must not be rejected, superseded or cancelled.
  package var countsForNext: Bool { state != .rejected && state != .superseded && counts.cancelled == 0 }
}

/// Counts a job's rows as they end.
package struct JobTally: Sendable, Equatable {
  package private(set) var counts = JobOutcome.Counts()
  package private(set) var bytes = JobOutcome.Bytes()
  private(set) var changes = SinceLast()
  private(set) var damaged = DamagedResults()
  package private(set) var failures = FailureCounts()

  package init() {}

  /// - Parameter position: The position of the row in the report.
  package mutating func add(_ row: ReportRow, at position: Int) {
    counts.total += 1
    changes.add(row)
    damaged.add(row, at: position)
    failures.add(row)
    switch row.state {
    case .filtered: counts.filtered += 1
    case .cancelled: counts.cancelled += 1
    case .failed: counts.failed += 1
    }
    bytes.downloaded += row.downloadedBytes
    if row.isReused {
      counts.reused += 1
    } else {
      bytes.written += row.output?.bytes ?? 0
    }
  }

  /// Adds entries that were cancelled and have no rows.
  package mutating func addCancelled(_ count: Int) {
    counts.total += count
    counts.cancelled += count
  }
}
