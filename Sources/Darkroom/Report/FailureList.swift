import Ledger
import Scheduling

/// The lines of `JOB.failed.jsonl`: the entries that have failed, as a manifest. Of a cancelled run also those that were not
/// done and that a failed one comes after, itself or by way of others: without them the manifest would name unknown entries,
/// or forget that they come first.
struct FailureList {
  let run: String
  let index: JobIndex
  let ledger: Ledger

  /// Whether rows of the run are cancelled.
  let hasCancelled: Bool

  /// Calls a function with each line, without its end, in the manifest's order.
  /// - Throws: What the function throws; `SQLiteError`, `ReportRow.RowError`, `JSONError`.
  func eachLine(_ body: (String) throws -> Void) throws {
    let (included, needed) = try index.hasDependencies ? positions() : (PositionSet(), PositionSet())
    // The rows of an entry with variants come one after the other, and have one line.
    var rows: [FailedRow] = []
    func writeLine() throws {
      guard let first = rows.first else { return }
      let after = try index.dependencyNames(of: first.entry.position, where: included.contains)
      try body(FailedRow.manifestLine(rows, after: after).text)
      rows = []
    }
    try ledger.eachEndedPage(run: run) { page in
      for ended in page {
        let failure = try ReportRow(parsing: ended.row).failure
        guard failure != nil || needed.contains(ended.position), let entry = try index.entry(at: ended.position)
        else { continue }
        if entry.firstRow == nil || entry.firstRow != rows.first?.entry.firstRow { try writeLine() }
        rows.append(FailedRow(entry: entry, failure: failure))
      }
    }
    try writeLine()
  }

  /// - Returns: The places of all rows in the list, and of those among them that are cancelled.
  private func positions() throws -> (included: PositionSet, needed: PositionSet) {
    var (included, cancelled, needed) = (PositionSet(), PositionSet(), PositionSet())
    // Those whose dependencies have not been looked at.
    var open: [Int] = []
    try ledger.eachEndedPage(run: run) { page in
      for ended in page {
        let row = try ReportRow(parsing: ended.row)
        if row.failure != nil {
          included.insert(ended.position)
          if hasCancelled { open.append(ended.position) }
        } else if row.state == .cancelled {
          cancelled.insert(ended.position)
        }
      }
    }
    while let position = open.popLast() {
      for dependency in try index.dependencies(of: position) where cancelled.contains(dependency.position) {
        guard included.insert(dependency.position) else { continue }
        needed.insert(dependency.position)
        open.append(dependency.position)
      }
    }
    return (included, needed)
  }
}
