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
  }

  /// Something that made the manifest rejected.
  package struct Problem: Sendable, Equatable, Codable {
    package let code: String
    package let message: String
    package let place: String

    /// Why the source could not be downloaded; nil for other problems.
    var failure: SourceFailure?
  }

  /// Why a manifest's source could not be downloaded.
  struct SourceFailure: Sendable, Equatable, Codable {
    let stage: String
    let code: String
    let message: String
    let httpStatus: Int?
    let isRetryable: Bool
  }

  package let state: State
  package let counts: Counts
  package let bytes: Bytes
  package let transfers: Transfers
  package let problems: [Problem]

  /// Milliseconds since 1970, UTC.
  package let finished: Int

  /// How long it took; nil for what an earlier version recorded.
  var elapsed: RunTime.Elapsed?

  /// How the rows compare with those of the job's last run; nil when there was none.
  package var sinceLast: SinceLast?

  /// What kept the run from being faster, the largest share first; nil when nothing is known of it.
  package var bottlenecks: [Bottleneck]?

  /// When hosts of the run did not answer, so that entries waited, as far as the process that ended it knows; nil when it
  /// does of none.
  var holds: [HostHold]?

  /// Whether it is that of a manifest that was to take the place of a live run's, and was rejected: its report goes to
  /// `history`. nil for no.
  var isRejectedReplacement: Bool?
}

extension JobOutcome {
  /// The form that is kept in the ledger.
  /// - Throws: `EncodingError`.
  var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// - Throws: `DecodingError`.
  init(text: String) throws { self = try JSONDecoder().decode(JobOutcome.self, from: Data(text.utf8)) }

  /// The outcome of a job all of whose rows are durable.
  /// - Parameters:
  ///   - isFirst: Whether there was no run with which this one can be compared.
  ///   - bottlenecks: What kept the run from being faster. Default: nothing is known of it.
  ///   - holds: When its hosts did not answer. Default: they did.
  init(
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
  func duration(since accepted: Int) -> Int {
    let shown = finished - accepted
    guard let elapsed else { return max(0, shown) }
    // What a clock that is slewed may be off (500 ppm), and what the measurement began later.
    return abs(shown - elapsed.total) <= Self.clockTolerance + elapsed.total / 1000 ? max(0, shown) : elapsed.total
  }

  private static let clockTolerance = 2000

  /// When the run ended, as reports show it: what the wall clock said, or, if that was set back to before the run began, how
  /// long the run took after that.
  /// - Parameter accepted: When it began, in milliseconds since 1970.
  func finished(since accepted: Int) -> Int { finished < accepted ? accepted + duration(since: accepted) : finished }

  /// The same, of a run that a later one has superseded.
  var superseded: JobOutcome {
    JobOutcome(
      state: .superseded, counts: counts, bytes: bytes, transfers: transfers, problems: problems, finished: finished,
      elapsed: elapsed)
  }

  /// Whether the next run is compared with this one: not with one that was rejected or cancelled, which tells nothing of
  /// its entries.
  var countsForNext: Bool { state != .rejected && state != .superseded && counts.cancelled == 0 }
}

/// Adds up a job's rows as they end.
struct JobTally: Sendable, Equatable {
  private(set) var counts = JobOutcome.Counts()
  private(set) var bytes = JobOutcome.Bytes()
  private(set) var changes = SinceLast()

  mutating func add(_ row: ReportRow) {
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
  mutating func addCancelled(_ count: Int) {
    counts.total += count
    counts.cancelled += count
  }
}
