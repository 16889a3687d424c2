/// Which failures of a job count as success, for the exit code and for the log of `--quiet`.
package enum FailureAcceptance: Sendable, Equatable {
  /// Failures of rows that failed in the job's last run as well, provided that other rows succeeded. When all rows
  /// fail, the cause is not in the entries.
  case known

  /// Up to this number of rows.
  case rows(Int)

  /// Up to this share of the rows, in per cent from 0 to 100.
  case percent(Double)

  /// Whether a job's failures are accepted. Never for a rejected job or one with cancelled rows.
  /// - Parameter sinceLast: nil when there was no run to compare with; then no failure is known.
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
