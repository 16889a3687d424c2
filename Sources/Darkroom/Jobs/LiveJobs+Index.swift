import Database
import System

/// Jobs whose index cannot be read while they are worked on: nothing of them starts, and once nothing of them is in progress
/// they are planned again, from the snapshot and the ledger, as an earlier process's. If the snapshot cannot be read either,
/// that sets them aside.
extension LiveJobs {
  /// Plans the runs again whose indexes cannot be read, and of which nothing is in progress any more.
  func planUnreadableAgain(now: Double) {
    guard !isStopping else { return }
    for (number, error) in flow.takeUnreadable() {
      if let run = runs[number], !run.isUnderWay { planAnew(run, error, now: now) }
    }
  }

  /// Has a run planned again after a while, as one that an earlier process has worked on.
  func planAnew(_ run: JobRun, _ error: any Error, now: Double) {
    guard let accepted = run.accepted else { return remove(run) }
    let runID = accepted.job.runID
    holds.limitIndexes(to: Self.indexHoldLimit)
    hold(run, .index(runID), "\(error)", isPlanning: true, now: now)
    holds.hold(.planning(run.name), as: .index(runID))
    run.sourceTransfers = transfers(of: run)
    flow.remove(run.number)
    var job = accepted.job
    job.state = .running
    remove(run, isIndexUsable: false)
    retry(run, job)
  }

  /// The attempts of more jobs are not counted.
  private static let indexHoldLimit = 1000

  /// Whether an error says that the index of a run is damaged, or cannot be read.
  func isDamageOfIndex(_ error: any Error, of run: JobRun) -> Bool {
    guard let error = error as? SQLiteError, error.isDamage || error.isUnreadable,
      let runID = run.accepted?.job.runID
    else { return false }
    return error.path == planner.state.index(runID) || error.path == Database.inMemory
  }
}
