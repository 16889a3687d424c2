import Delivery
import Foundation
import Imaging
import JobIndex
import JSON
import Ledger
import Model
import System
import Transfer

/// Runs that had not ended when a later one of the same job was accepted.
extension JobPlanner {
  /// Plans such a run: it delivers nothing any more, and its report goes to `history`. What was delivered keeps its row, the
  /// other entries count as cancelled.
  /// - Parameter later: The later runs of the job, the oldest first.
  /// - Throws: `SupersededRun` when nothing of it had ended, and nothing is left of it.
  func planSuperseded(_ task: Task, by later: [LedgerJob]) throws -> Plan {
    let (job, run) = (task.job, task.run)
    let (index, findings) = try makeIndex(task, isInMemory: true, lastNames: namedRun(for: task))
    // A staged file is not removed before: an intent whose staged file is gone means that the file was delivered.
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

  /// Records what was delivered of what was about to be. The rest is not delivered: that would be over what a later run has.
  private func endIntents(of job: LedgerJob) throws {
    let folder = outbox.job(job.name)
    try ledger.commit(
      ledger.intended(run: job.runID).flatMap { entry in
        try entry.delivered(run: job.runID, job: job.name) { try folder.holds($0) }
      })
  }
}

/// A run that was superseded before anything of it had ended, and of which nothing is left.
struct SupersededRun: Error {
  let runID: String
}

extension Error {
  /// Whether something that was recorded cannot be read back.
  var isOfUnreadableRecord: Bool {
    self is DecodingError || self is JSONError || self is ReportRow.RowError || self is RecipeError
      || self is Checksum.ParseError
  }
}

extension LedgerJob {
  /// The file of the inbox that takes the place of an earlier run's, if nothing of the run has been done; nil otherwise.
  var replacedFile: FileName? {
    guard state == .accepted, let manifest = try? JobManifest(text: details), manifest.inboxPath != nil
    else { return nil }
    return FileName(manifest.file)
  }

  /// Whether an earlier run of the job, which has not ended, is to deliver nothing any more because of this one: not while it
  /// is not known whether its manifest can take the place of the earlier one, and not when it cannot.
  /// - Parameter earlier: The manifest of the earlier run.
  func supersedes(_ earlier: JobManifest) -> Bool {
    if isRejectedReplacement { return false }
    guard state == .accepted, let path = earlier.inboxPath, let own = try? JobManifest(text: details)
    else { return true }
    return own.inboxPath != path || own.chain != nil
  }

  /// Whether its manifest was to take the place of an earlier run's, and was rejected.
  var isRejectedReplacement: Bool {
    outcome.flatMap { try? JobOutcome(text: $0) }?.isRejectedReplacement == true
  }
}
