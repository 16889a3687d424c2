import Delivery
import JobIndex
import Ledger
import Planning

/// Derived names, which a request keeps from one run of its job to the next.
extension JobPlanner {
  /// The most pages of names that are committed when a run begins. Earlier pages of a larger manifest are recorded
  /// during its planning.
  private static let pagesAtBeginning = 32

  /// The run whose names the task's run keeps: itself, if it has begun, otherwise the job's last run.
  func namedRun(for task: Task) throws -> LedgerNamedRun? {
    // The names of a run that is replaced, or planned again, may still be in the delivery queue.
    if task.isReplacement || task.job.state == .running { delivery.drain() }
    return try ledger.namedRun(for: task.job.runID, job: task.job.name)
  }

  /// Copies names from the ledger to an index before it settles its own.
  func copyNames(of run: LedgerNamedRun?, to index: JobIndex) throws {
    guard let run, run.pages > 0 else { return }
    try index.prepareLastNames()
    try ledger.eachNamesPage(of: run) { try index.insert(lastNames: $0.text) }
  }

  /// The changes that record the derived names of a planned run when it begins; empty when they are recorded.
  /// - Parameter known: The run whose names were kept.
  /// - Throws: `DamagedJob` when work was done under names that are lost.
  func namesToRecord(
    of index: JobIndex, _ task: Task, takenFrom known: LedgerNamedRun?
  ) throws -> [LedgerChange] {
    guard index.hasDerivedNames else { return [] }
    let job = task.job
    if let known, known.runID == job.runID {
      if try known.pages > 0 && ledger.hasAllNames(of: known) { return [] }
      if known.pages > 0 { try checkUntouched(job) }
    } else if task.isResumed {
      try checkUntouched(job)
    }
    var changes: [LedgerChange] = []
    var pages = 0
    try index.eachNamesPage { text in
      if changes.count == Self.pagesAtBeginning {
        try ledger.commit(changes)
        changes = []
      }
      changes.append(.addNames(LedgerNames(page: pages, text: text), run: job.runID))
      pages += 1
    }
    return changes + [.name(job.runID, job: job.name, pages: pages)]
  }

  /// - Throws: `DamagedJob` when a job has begun. New names could differ from those of delivered results.
  private func checkUntouched(_ job: LedgerJob) throws {
    let recorded = try ledger.liveJobs().first { $0.runID == job.runID }
    guard let recorded, recorded.state != .accepted else { return }
    throw DamagedJob(job: job, why: "the names of its results are lost")
  }
}
