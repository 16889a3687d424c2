/// Adds up a job's rows as they end.
struct JobTally: Sendable, Equatable {
  private(set) var counts = JobOutcome.Counts()
  private(set) var bytes = JobOutcome.Bytes()

  /// Adds a row of the report.
  mutating func add(_ row: JSONValue) {
    counts.total += 1
    switch row["state"]?.string {
    case "filtered": counts.filtered += 1
    case "cancelled": counts.cancelled += 1
    default: counts.failed += 1
    }
    bytes.downloaded += row["source"]?["bytes"]?.integer ?? 0
    bytes.written += row["output"]?["bytes"]?.integer ?? 0
  }
}
