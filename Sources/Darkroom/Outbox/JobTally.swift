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
    let source = row["source"]
    let hasCome = row["coalesced"] != .bool(true) && source?["http_status"]?.integer != 304
    if hasCome { bytes.downloaded += source?["bytes"]?.integer ?? 0 }
    if row["reused"] == .bool(true) {
      counts.reused += 1
    } else {
      bytes.written += row["output"]?["bytes"]?.integer ?? 0
    }
  }
}
