/// Which failures of a job count as success: for the exit code, and for what is logged when only problems are.
package enum FailureAcceptance: Sendable, Equatable {
  /// Those of rows that failed in the job's last run, too, provided that other rows succeeded: what fails as a whole has
  /// another cause than its entries.
  case known

  /// At most so many rows.
  case rows(Int)

  /// At most this share of the rows, in per cent from 0 to 100.
  case percent(Double)

  /// Whether a job's failures are accepted; a job that was rejected or has cancelled rows never is.
  /// - Parameter sinceLast: nil when there was no run to compare it with; then no failure is known.
  package func accepts(
    _ state: JobOutcome.State, _ counts: JobOutcome.Counts, sinceLast: SinceLast?
  ) -> Bool {
    guard state != .rejected, counts.cancelled == 0 else { return false }
    return switch self {
    case .known: counts.failed == 0 || counts.filtered > 0 && sinceLast?.failedNew == 0
    case .rows(let limit): counts.failed <= limit
    case .percent(let limit): Double(counts.failed) * 100 <= limit * Double(counts.total)
    }
  }

  package func accepts(_ outcome: JobOutcome) -> Bool {
    accepts(outcome.state, outcome.counts, sinceLast: outcome.sinceLast)
  }
}
