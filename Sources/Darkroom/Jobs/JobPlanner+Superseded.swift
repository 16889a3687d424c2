import Foundation
import Imaging
import JSON
import Ledger
import System
import Transfer

/// Runs that had not ended when a later one of the same job was accepted.
extension JobPlanner {
  /// Plans such a run: it delivers nothing any more, and its report goes to `history`. What was delivered keeps its row, the
  /// other entries are cancelled. What is unchanged in the manifest that has taken the place of its own has its row there.
  /// - Parameter later: The later runs of the job, the oldest first.
  func planSuperseded(_ task: Task, by later: [LedgerJob]) throws -> Plan {
    let (job, run) = (task.job, task.run)
    let (index, findings) = try makeIndex(task, isInMemory: true, lastNames: namedRun(for: task))
    let staged = try endIntents(of: job)
    if findings.problems.isEmpty, findings.source == nil,
      let successor = later.first(where: { $0.hasTakenThePlace(of: task.manifest) })
    {
      try handOver(index, of: task, to: successor)
    }
    var tally = JobTally()
    try ledger.eachEndedPage(run: job.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row)) }
      try index.fill { for entry in page { try index.markEnded(entry.position) } }
    }
    if findings.problems.isEmpty, findings.source == nil {
      try index.eachPendingPage { page in
        try ledger.commit(
          page.map { entry in
            let record = PhotoRecord(entry, run: run)
            record.cancel()
            let row = record.row()
            tally.add(row)
            return .finish(record.ledgerEntry(row), run: job.runID, job: job.name)
          })
      }
    }
    // Not before: an intent whose staged file is gone means that the file was delivered.
    for name in staged { run.staging.remove(name) }
    let outcome = JobOutcome(tally, task.manifest.transfers ?? Transfers(), at: Clock.wallMilliseconds).superseded
    return Plan(
      job: job, run: run, manifest: task.manifest, index: index, total: tally.counts.total, hasOutputs: false,
      sources: SourceCounts(total: tally.counts.total), problems: findings.problems,
      warnings: findings.warnings, tally: tally, deferred: [], pauses: try ledger.pauses(run: job.runID), unsynced: [],
      outcome: outcome)
  }

  /// Has the rows go over of what is unchanged in the manifest of the run that was about to do it.
  private func handOver(_ index: JobIndex, of task: Task, to successor: LedgerJob) throws {
    let successorTask: Task
    do {
      successorTask = try self.task(
        successor, try manifest(of: successor), number: task.run.number, isResumed: true, isReplacement: false,
        isCancelled: task.isCancelled)
      try checkFiles(of: successorTask)
    } catch is DamagedJob {
      // That is found out when it is planned itself.
      return
    }
    let (newIndex, findings) = try makeIndex(
      successorTask, isInMemory: true, lastNames: namedRun(for: successorTask))
    guard findings.problems.isEmpty, findings.source == nil else { return }
    try JobReplacement(old: task.run, oldIndex: index, ledger: ledger)
      .complete(to: successorTask.run, newIndex, isStopping: task.isCancelled)
  }

  /// Records what was delivered of what was about to be.
  /// - Returns: The staged files of the rest, which is not delivered: that would be over what a later run has.
  private func endIntents(of job: LedgerJob) throws -> [String] {
    let folder = outbox.job(job.name)
    var (ended, staged): ([LedgerChange], [String]) = ([], [])
    for entry in try ledger.intended(run: job.runID) {
      guard let delivery = entry.delivery else { continue }
      staged.append(delivery.staged)
      if let original = try entry.intendedOriginal(run: job.runID) {
        staged.append(original.staged)
        if try folder.holds(original) { ended.append(.recall(original, job: job.name)) }
      }
      if try folder.holds(delivery) {
        ended.append(.finish(entry, run: job.runID, job: job.name))
      }
    }
    try ledger.commit(ended)
    return staged
  }
}

extension Error {
  /// Whether something that was recorded cannot be read back.
  var isOfUnreadableRecord: Bool {
    self is DecodingError || self is JSONError || self is ReportRow.RowError || self is RecipeError
      || self is Checksum.ParseError
  }
}
