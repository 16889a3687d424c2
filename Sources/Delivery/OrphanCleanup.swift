import Ledger
import Model
import System

/// Removes what a process that was killed left in staging and in the state folder, and nobody needs.
package struct OrphanCleanup {
  package let staging: OpenFolder
  package let state: StateFolder

  package init(staging: OpenFolder, state: StateFolder) {
    self.staging = staging
    self.state = state
  }

  /// Removes everything but what the unfinished jobs are about to deliver, and their snapshots. What cannot be removed
  /// stays.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func run(keeping unfinished: [LedgerJob], ledger: Ledger) throws {
    var needed: Set<String> = []
    for job in unfinished {
      for entry in try ledger.intended(run: job.runID) {
        if let delivery = entry.delivery { needed.insert(delivery.staged) }
        needed.formUnion(Artifact.Kind.allCases.map { Staging.file($0, of: entry.position, run: job.runID) })
      }
      needed.formUnion(job.documents.map(\.staged))
    }
    for name in try staging.names().compactMap(\.text) where !needed.contains(name) { try? staging.remove(name) }
    let live = Set(unfinished.map(\.runID))
    let jobs = try state.openJobs()
    for name in try jobs.names().compactMap(\.text) where !live.contains(StateFolder.runID(of: name)) {
      try? jobs.remove(name)
    }
  }
}
