import Foundation

/// What a run came to, all but its rows.
package struct JobOutcome: Sendable, Equatable, Codable {
  package enum State: String, Sendable, Codable {
    case succeeded, partial, failed, rejected
    /// Nobody wanted it any more before all was done.
    case cancelled
    /// An earlier run that had not ended when a later one of the same job began.
    case superseded
  }

  /// How many rows there are of each kind.
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

    var state: JobOutcome.State {
      if cancelled > 0 {
        .cancelled
      } else if filtered == total {
        .succeeded
      } else {
        filtered > 0 ? .partial : .failed
      }
    }
  }

  /// How many bytes went where.
  package struct Bytes: Sendable, Equatable, Codable {
    package var downloaded = 0
    package var written = 0

    package init() {}
  }

  /// Something that made the manifest rejected.
  package struct Problem: Sendable, Equatable, Codable {
    package let code: String
    package let message: String
    package let place: String

    /// Why the source could not be downloaded; nil for other problems.
    package var failure: SourceFailure?

    package init(code: String, message: String, place: String, failure: SourceFailure? = nil) {
      self.code = code
      self.message = message
      self.place = place
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

  /// How long it took; nil for what an earlier version recorded.
  package var elapsed: RunTime.Elapsed?

  /// How the rows compare with those of the job's last run; nil when there was none.
  package var sinceLast: SinceLast?

  /// What kept the run from being faster, the largest share first; nil when nothing is known of it.
  package var bottlenecks: [Bottleneck]?

  /// When hosts of the run did not answer, so that entries waited, as far as the process that ended it knows; nil when it
  /// does of none.
  package var holds: [HostHold]?

  /// Whether it is that of a manifest that was to take the place of a live run's, and was rejected: its report goes to
  /// `history`. nil for no.
  package var isRejectedReplacement: Bool?

  package init(
    state: State, counts: Counts, bytes: Bytes, transfers: Transfers, problems: [Problem], finished: Int,
    elapsed: RunTime.Elapsed? = nil, sinceLast: SinceLast? = nil, bottlenecks: [Bottleneck]? = nil,
    holds: [HostHold]? = nil, isRejectedReplacement: Bool? = nil
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
    self.isRejectedReplacement = isRejectedReplacement
  }
}

extension JobOutcome {
  /// The form that is kept in the ledger.
  /// - Throws: `EncodingError`.
  package var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// - Throws: `DecodingError`.
  package init(text: String) throws { self = try JSONDecoder().decode(JobOutcome.self, from: Data(text.utf8)) }

  /// The outcome of a job all of whose rows are durable.
  /// - Parameters:
  ///   - isFirst: Whether there was no run with which this one can be compared.
  ///   - bottlenecks: What kept the run from being faster. Default: nothing is known of it.
  ///   - holds: When its hosts did not answer. Default: they did.
  package init(
    _ tally: JobTally, _ transfers: Transfers, at now: Int, taking elapsed: RunTime.Elapsed? = nil,
    isFirst: Bool = true, bottlenecks: [Bottleneck] = [], holds: [HostHold] = []
  ) {
    self.init(
      state: tally.counts.state, counts: tally.counts, bytes: tally.bytes, transfers: transfers, problems: [],
      finished: now, elapsed: elapsed, sinceLast: isFirst ? nil : tally.changes,
      bottlenecks: bottlenecks.isEmpty ? nil : bottlenecks, holds: holds.isEmpty ? nil : holds)
  }

  /// How long the run took, in milliseconds: the difference of the times that the report shows, unless the wall clock was
  /// set meanwhile.
  /// - Parameter accepted: When it began, in milliseconds since 1970.
  package func duration(since accepted: Int) -> Int {
    let shown = finished - accepted
    guard let elapsed else { return max(0, shown) }
    // What a clock that is slewed may be off (500 ppm), and what the measurement began later.
    return abs(shown - elapsed.total) <= Self.clockTolerance + elapsed.total / 1000 ? max(0, shown) : elapsed.total
  }

  private static let clockTolerance = 2000

  /// When the run ended, as reports show it: what the wall clock said, or, if that was set back to before the run began, how
  /// long the run took after that.
  /// - Parameter accepted: When it began, in milliseconds since 1970.
  package func finished(since accepted: Int) -> Int {
    finished < accepted ? accepted + duration(since: accepted) : finished
  }

  /// The same, of a run that a later one has superseded.
  package var superseded: JobOutcome {
    JobOutcome(
      state: .superseded, counts: counts, bytes: bytes, transfers: transfers, problems: problems, finished: finished,
      elapsed: elapsed)
  }

  /// Whether the next run is compared with this one: not with one that was rejected or cancelled, which tells nothing of
  /// its entries.
  package var countsForNext: Bool { state != .rejected && state != .superseded && counts.cancelled == 0 }
}

/// Adds up a job's rows as they end.
package struct JobTally: Sendable, Equatable {
  package private(set) var counts = JobOutcome.Counts()
  private(set) var bytes = JobOutcome.Bytes()
  private(set) var changes = SinceLast()

  package init() {}

  package mutating func add(_ row: ReportRow) {
    counts.total += 1
    changes.add(row)
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

  /// Adds entries that were not done and have no rows.
  package mutating func addCancelled(_ count: Int) {
    counts.total += count
    counts.cancelled += count
  }
}
