import Ledger
import Model
import System

/// Removes files that a killed process left in staging and in the state folder.
package struct OrphanCleanup {
  package let staging: OpenFolder
  package let state: StateFolder

  package init(staging: OpenFolder, state: StateFolder) {
    self.staging = staging
    self.state = state
  }

  /// Removes all files except those that unfinished jobs will deliver, and their snapshots. Errors are ignored.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func run(keeping unfinished: [LedgerJob], ledger: Ledger) throws {
    for (folder, names) in try orphans(keeping: unfinished, ledger: ledger) {
      for name in names { try? folder.remove(name) }
    }
  }

  /// The files that `run` removes, by folder.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func orphans(
    keeping unfinished: [LedgerJob], ledger: Ledger
  ) throws -> [(folder: OpenFolder, names: [String])] {
    var needed: Set<String> = []
    for job in unfinished {
      for entry in try ledger.intended(run: job.runID) {
        if let delivery = entry.delivery { needed.insert(delivery.staged) }
        needed.formUnion(Artifact.Kind.allCases.map { Staging.file($0, of: entry.position, run: job.runID) })
      }
      needed.formUnion(job.documents.map(\.staged))
    }
    let live = Set(unfinished.map(\.runID))
    let jobs = try state.openJobs()
    return [
      (staging, try staging.names().compactMap(\.text).filter { !needed.contains($0) }),
      (jobs, try jobs.names().compactMap(\.text).filter { !live.contains(StateFolder.runID(of: $0)) }),
    ]
  }
}
