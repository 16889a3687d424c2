import Delivery
import JobIndex
import Ledger
import Planning

/// Names that are derived, which a request keeps from one run of its job to the next.
extension JobPlanner {
  /// So many pages of names wait for the commit with which a run begins; of a manifest with more, the pages before them are
  /// recorded while it is planned.
  private static let pagesAtBeginning = 32

  /// Finds out which names a run takes over: its own, when it has begun, else those of the job's last run.
  func namedRun(for task: Task) throws -> LedgerNamedRun? {
    // Those of a run that is to be replaced, or of one that is planned again, may be on their way to the ledger.
    if task.isReplacement || task.job.state == .running { delivery.drain() }
    return try ledger.namedRun(for: task.job.runID, job: task.job.name)
  }

  /// Copies names from the ledger, before an index settles its own.
  func copyNames(of run: LedgerNamedRun?, to index: JobIndex) throws {
    guard let run, run.pages > 0 else { return }
    try index.prepareLastNames()
    try ledger.eachNamesPage(of: run) { try index.insert(lastNames: $0.text) }
  }

  /// What records the derived names of a planned run, with the commit that begins it; nothing when they are recorded.
  /// - Parameter known: The run whose names it has taken over.
  /// - Throws: `DamagedJob` when something was done under names that are lost.
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

  /// - Throws: `DamagedJob` when a job has begun: settled anew, its names could be others than those under which results were
  ///   delivered.
  private func checkUntouched(_ job: LedgerJob) throws {
    let recorded = try ledger.liveJobs().first { $0.runID == job.runID }
    guard let recorded, recorded.state != .accepted else { return }
    throw DamagedJob(job: job, why: "the names of its results are lost")
  }
}
