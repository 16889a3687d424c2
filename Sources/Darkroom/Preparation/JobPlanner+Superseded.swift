import Delivery
import Imaging
import JobIndex
import JSON
import Ledger
import Model
import System
import Transfer

/// Runs that had not ended when a later one of the same job was accepted.
extension JobPlanner {
  /// Plans such a run. It delivers nothing any more, and its report goes to `history`. Delivered entries keep their
  /// rows, the others count as cancelled.
  /// - Parameter later: The later runs of the job, the oldest first.
  /// - Throws: `SupersededRun` when none of its entries had ended. The run is then removed.
  func planSuperseded(_ task: Task, by later: [LedgerJob]) throws -> Plan {
    let (job, run) = (task.job, task.run)
    let (index, findings) = try makeIndex(task, isInMemory: true, lastNames: namedRun(for: task))
    // Precedes the removal of staged files, since an intent without its staged file means that the file was delivered.
    try endIntents(of: job)
    let isPlanned = findings.problems.isEmpty && findings.source == nil
    let supersession = Supersession(
      run: run, manifest: task.manifest, total: isPlanned ? try index.count() : 0, ledger: ledger, state: state,
      hasLog: job.state != .accepted && later.allSatisfy { $0.state == .accepted })
    let tally = try supersession.record()
    guard tally.counts.total > 0 else { throw SupersededRun(runID: job.runID) }
    let outcome = JobOutcome(tally, task.manifest.transfers ?? Transfers(), at: Clock.wallMilliseconds).superseded
    return Plan(
      job: job, run: run.inHistory, manifest: task.manifest, index: index, total: tally.counts.total,
      next: .finish(outcome), findings: findings, sources: SourceCounts(total: tally.counts.total), tally: tally,
      pauses: try ledger.pauses(run: job.runID))
  }

  /// Records completed deliveries that have only an intent. Other files are not delivered, since they could replace
  /// those of a later run.
  private func endIntents(of job: LedgerJob) throws {
    let folder = outbox.job(job.name)
    try ledger.commit(
      ledger.intended(run: job.runID).flatMap { entry in
        try entry.delivered(run: job.runID, job: job.name) { try folder.holds($0) }
      })
  }
}

/// Thrown for a run that was superseded before any of its entries had ended. Nothing of it is left.
struct SupersededRun: Error {
  let runID: String
}

extension Error {
  /// Whether a stored record cannot be read.
  var isOfUnreadableRecord: Bool {
    self is DecodingError || self is JSONError || self is ReportRow.RowError || self is RecipeError
      || self is ParseError
  }
}

extension LedgerJob {
  /// The file of the inbox that replaces an earlier run's, if the run has not begun; nil otherwise.
  var replacedFile: FileName? {
    guard state == .accepted, let manifest = try? JobManifest(text: details), manifest.inboxPath != nil
    else { return nil }
    return FileName(manifest.file)
  }

  /// Whether this run supersedes an earlier run of the job that has not ended. False until it is known that its
  /// manifest can replace the earlier one, and when it cannot.
  /// - Parameter earlier: The manifest of the earlier run.
  func supersedes(_ earlier: JobManifest) -> Bool {
    if isRejectedReplacement { return false }
    guard state == .accepted, let path = earlier.inboxPath, let own = try? JobManifest(text: details)
    else { return true }
    return own.inboxPath != path || own.chain != nil
  }

  /// Whether its manifest should have replaced an earlier run's, and was rejected.
  var isRejectedReplacement: Bool {
    outcome.flatMap { try? JobOutcome(text: $0) }?.isRejectedReplacement == true
  }
}
