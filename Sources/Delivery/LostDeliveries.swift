import Ledger
import Model
import System

/// Deliveries of earlier processes whose staged files may have been lost with the staging folder. A file that is neither
/// staged nor in place was then not delivered, and is made again.
package struct LostDeliveries {
  private let outbox: OutboxFolder
  private let staging: OpenFolder
  private let ledger: Ledger

  package init(outbox: OutboxFolder, staging: OpenFolder, ledger: Ledger) {
    (self.outbox, self.staging, self.ledger) = (outbox, staging, ledger)
  }

  /// Takes back the intents whose files are lost. The files of such an entry that are in place remain the job's.
  /// - Parameter jobs: The unfinished jobs. Those whose documents are lost become `running` again.
  /// - Returns: The number of results and reports that are made again.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func takeBack(_ jobs: inout [LedgerJob]) throws -> Int {
    var count = 0
    for index in jobs.indices {
      let (job, folder) = (jobs[index], outbox.job(jobs[index].name))
      var changes: [LedgerChange] = []
      for entry in try ledger.intended(run: job.runID) {
        // Without a readable row nothing is known of the files.
        let files = ((try? entry.artifacts(run: job.runID)) ?? []).map(\.delivery)
        let isPlaced = try files.map(folder.holds)
        let isLost = try zip(files, isPlaced).contains { try !$1 && !isStaged($0) }
        guard files.isEmpty || isLost else { continue }
        changes += zip(files, isPlaced).filter(\.1).map { .recall($0.0, job: job.name) }
        changes.append(.withdraw(position: entry.position, run: job.runID))
        count += 1
      }
      if try job.documents.contains(where: { try !isStaged($0) && !folder.holds($0) }) {
        (jobs[index].state, jobs[index].documents) = (.running, [])
        changes.append(.advance(job.runID, to: .running, documents: []))
        count += 1
      }
      try ledger.commit(changes)
    }
    return count
  }

  private func isStaged(_ file: Delivery) throws(SystemError) -> Bool { try staging.status(of: file.staged) != nil }
}
