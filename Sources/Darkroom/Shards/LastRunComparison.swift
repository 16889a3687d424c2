import Delivery
import JobIndex
import Model

/// Compares merged rows with the job's last run, as a run without shards does: the shards do not know that run.
struct LastRunComparison {
  /// The comparison of the rows so far.
  private(set) var changes = SinceLast()

  /// Why the ledger could not tell what failed in the last run; the rows from there on are not compared.
  private(set) var failure: (any Error)?

  private let results: MergedResults

  /// Whether the last run is an earlier merge of the same shards: its failures are those of these rows.
  private let isRepeated: Bool

  /// - Returns: nil when there was no run.
  init?(_ results: MergedResults, _ shards: ShardFolder) {
    guard let lastRun = results.lastRun else { return nil }
    self.results = results
    isRepeated = shards.wasMerged(lastRun)
  }

  /// Adds a row.
  /// - Returns: The row as the report has it.
  mutating func add(_ text: String) -> String {
    if failure != nil { return text }
    do {
      return try compare(text)
    } catch {
      failure = error
      return text
    }
  }

  private mutating func compare(_ text: String) throws -> String {
    let isFailed = ReportRow.isFailed(text)
    if ReportRow.isCancelled(text) { return text }
    var row = isFailed ? try? ReportRow(parsing: text) : nil
    let name = isFailed ? row?.resultName : ReportRow.resultName(ofRow: text)
    guard isFailed || !isRepeated, let last = try name.flatMap(results.lastFailure) else {
      if let row { changes.add(row) } else { changes.add(filtered: text) }
      return text
    }
    row = try? (row ?? ReportRow(parsing: text)).following(last, runs: isRepeated ? last.runs - 1 : last.runs)
    guard let row else { return text }
    changes.add(row)
    return row.json.text
  }
}
