import Delivery
import Model
import System

/// What the head of a merged report says of all rows. Memory does not grow with their number.
struct RowSummary {
  /// nil when the job had no run.
  private(set) var comparison: LastRunComparison?

  private let sources: SourceCounts

  init(_ plan: ShardPlan, _ comparison: LastRunComparison?) {
    self.comparison = comparison
    sources = SourceCounts(total: plan.shards.reduce(0) { $0 + $1.rows })
  }

  /// Adds a row.
  /// - Returns: The row as the report has it.
  mutating func add(_ row: String) -> String {
    sources.add(row)
    return comparison?.add(row) ?? row
  }

  /// The warnings about frequent sources.
  /// - Parameter rows: The merged rows. They are read only if a source may be frequent enough.
  func sameSources(in rows: OpenFile) throws -> [ReportWarning] { try SameSources.warnings(in: rows, sources) }
}
