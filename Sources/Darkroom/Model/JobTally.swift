/// Adds up a job's rows as they end.
struct JobTally: Sendable, Equatable {
  private(set) var counts = JobOutcome.Counts()
  private(set) var bytes = JobOutcome.Bytes()
  private(set) var changes = SinceLast()

  /// Adds a row of the report.
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
