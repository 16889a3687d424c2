import JobIndex
import Ledger
import Model
import System

/// Continues a job that an earlier process left unfinished.
package struct Recovery {
  package let run: RunContext
  package let ledger: Ledger
  package let index: JobIndex

  /// Whether the index has failures of the job's last run.
  package var hasFailures = false

  /// Counts the sources of durable rows.
  package var sources: SourceCounts?

  /// Whether what cannot be delivered now fails, since the job is to be cancelled. Default: no, that is tried again.
  package var givesUp = false

  package init(
    run: RunContext, ledger: Ledger, index: JobIndex, hasFailures: Bool = false, sources: SourceCounts? = nil,
    givesUp: Bool = false
  ) {
    self.givesUp = givesUp
    self.run = run
    self.ledger = ledger
    self.index = index
    self.hasFailures = hasFailures
    self.sources = sources
  }

  /// Completes deliveries that had begun, and marks ended entries in the index.
  /// - Returns: The sums of the durable rows, and the new path of a file of somebody else's that had the name of the log.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func recover() throws -> (tally: JobTally, movedAway: String?) {
    var folders: Set<ByteKey> = []
    let completed = try ledger.intended(run: run.runID).map { try complete($0, &folders) }
    for folder in folders { try run.folder.syncIfThere(folder.text) }
    try ledger.commit(completed.map { .finish($0, run: run.runID, job: run.job) })
    // Only after the commit, because an intent without its staged file means that the file was delivered.
    for entry in completed { run.staging.removeFiles(of: entry.position) }
    var tally = JobTally()
    // What has ended of a shard is what its log says, whatever becomes of the ledger.
    let isShard = run.folder.pictures != nil
    let movedAway = try EntriesLogFile(run: run, ledger: ledger).write(isSynced: isShard) { page in
      var succeeded: [Int] = []
      for entry in page {
        let row = try ReportRow(parsing: entry.row)
        tally.add(row, at: entry.position)
        sources?.add(row)
        if index.hasDependencies, row.state == .filtered { succeeded.append(entry.position) }
      }
      try index.fill {
        for entry in page { try index.markEnded(entry.position) }
        for position in succeeded { try index.dependencySucceeded(position) }
      }
    }
    return (tally, movedAway)
  }

  /// Completes the delivery of an entry.
  /// - Parameter folders: Receives the subfolders in which names may have changed.
  private func complete(_ entry: LedgerEntry, _ folders: inout Set<ByteKey>) throws -> LedgerEntry {
    var artifacts = try entry.artifacts(run: run.runID)
    for index in artifacts.indices where artifacts[index].kind == .original {
      // It is unknown whether an original with its final name was adopted.
      let isStaged = try run.staging.open().status(of: artifacts[index].delivery.staged) != nil
      if !isStaged { artifacts[index].delivery.origin = nil }
    }
    var delivery = try EntryDelivery(entry: entry, row: ReportRow(parsing: entry.row), artifacts: artifacts)
    folders.formUnion(delivery.subfolders.map(ByteKey.init))
    let name = try index.entry(at: entry.position)?.name ?? ""
    let placement = Placement(folder: run.folder, staging: run.staging, ledger: ledger)
    do {
      var placed: Set<ByteKey> = []
      folders.formUnion(try delivery.place(name, by: placement, isAgain: true, placed: &placed).map(ByteKey.init))
    } catch {
      let givesUp = givesUp && delivery.isUnplaced(in: run.staging)
      guard let failure = EntryFailure(delivering: error, givesUp: givesUp) else { throw error }
      let last = hasFailures ? try index.failure(name) : nil
      let row = delivery.row.failed(failure, after: last)
      delivery.fail(
        LedgerEntry(
          position: entry.position, delivery: nil, failure: row.ledgerFailure(name: name), row: row.json.text),
        row)
    }
    return delivery.recorded
  }
}
