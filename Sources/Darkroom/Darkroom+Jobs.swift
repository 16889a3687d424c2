import Foundation
import Imaging
import Ledger

/// The beginning and the end of a job.
extension Darkroom {
  /// Accepts a manifest of the inbox.
  /// - Returns: nil when it was not settled after all.
  func accept(_ manifest: InboxScan.Manifest) throws -> LedgerJob? {
    guard let format = ManifestFormats.format(ofFileNamed: manifest.file) else { return nil }
    return try acceptance.accept(
      path: inbox.file(manifest.file), job: manifest.job, format: format.name, isInbox: true)
  }

  /// Accepts a manifest that was named as an argument. It stays where it is, unless it lies in the inbox.
  /// - Throws: `StopError.missing`.
  func acceptNamed(_ path: String) throws -> LedgerJob {
    let file = String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    guard let format = ManifestFormats.format(ofFileNamed: file) else {
      throw StopError.missing("\(path): \(ManifestFormats.refusal(ofFileNamed: file))")
    }
    let stem = String(file[..<(file.lastIndex(of: ".") ?? file.endIndex)].drop { $0 == "." })
    guard stem.utf8.count <= InboxFile.jobNameLimit else {
      throw StopError.missing("\(path): the job's name would be longer than \(InboxFile.jobNameLimit) bytes")
    }
    let isInbox = (try? Folder.resolved(path)).map(Folder.parent(of:)) == inbox.path
    do {
      guard (try FileStatus(of: Folder.resolved(path))).kind == .file, !stem.isEmpty,
        let job = try acceptance.accept(
          path: isInbox ? inbox.file(file) : path, job: stem, format: format.name, isInbox: isInbox)
      else { throw StopError.missing("\(path): it is no file, or it is being written") }
      return job
    } catch let error as SystemError {
      throw StopError.missing(error.description)
    }
  }

  private var acceptance: Acceptance { Acceptance(state: state, ledger: ledger, configuration: configuration) }

  /// Whether a file is one whose job ended, and that only could not be moved away.
  func hasEnded(_ manifest: InboxScan.Manifest) -> Bool {
    guard let ended = try? ledger.lastEnded(job: manifest.job), let known = try? JobManifest(text: ended.details) else {
      return false
    }
    return known.file == manifest.file && known.identity == manifest.identity.text
  }

  /// Starts working on a job, or goes on where an earlier process was killed.
  func begin(_ accepted: LedgerJob) throws {
    do {
      try prepare(accepted)
    } catch let error as SystemError {
      // The job stays in the ledger, for the next start; the others need not wait for it.
      summary.hadTrouble = true
      observe(.warning("job \(accepted.name) cannot be worked on: \(error)"))
      if let manifest = try? JobManifest(text: accepted.details) {
        markProcessed(manifest.file, identity: manifest.identity)
      }
    }
  }

  private func prepare(_ accepted: LedgerJob) throws {
    let manifest = try JobManifest(text: accepted.details)
    guard let format = ManifestFormats.all.first(where: { $0.name == manifest.format }) else {
      throw StopError.broken("the ledger has a job of format \(manifest.format), which this version does not know")
    }
    let folder = outbox.job(accepted.name)
    for above in try Folder.create(folder.path) { try Folder.sync(above) }
    let index = try JobIndex(creating: state.index(accepted.runID))
    let snapshot = ManifestFile(path: state.snapshot(accepted.runID, extension: manifest.fileExtension))
    let problems = try Planner(format: format, file: snapshot, defaults: manifest.defaults).plan(into: index)
    let staging = Staging(folder: outbox.staging, runID: accepted.runID)
    if accepted.state == .accepted { try History(folder: folder).putAside() }
    let recovery = Recovery(
      placement: Placement(folder: folder, staging: staging, ledger: ledger), runID: accepted.runID, index: index)
    let tally = try accepted.state == .accepted ? JobTally() : recovery.recover()
    let job = try Job(
      accepted, manifest: manifest, index: index, folder: folder, staging: staging, tally: tally)
    try notePauses(of: job, at: Clock.milliseconds)
    if accepted.state == .finishing {
      let outcome = try JSONDecoder().decode(JobOutcome.self, from: Data((accepted.outcome ?? "").utf8))
      return try finish(job, outcome)
    }
    guard problems.isEmpty else { return try finish(job, job.rejected(problems, at: Clock.milliseconds)) }
    try ledger.advance(job.runID, to: .running)
    let courier = try Courier(
      job: folder, staging: staging, ledger: ledger,
      settled: { [mailbox] in mailbox.post(.settled($0)) },
      refused: { [mailbox] in mailbox.post(.refused($0)) },
      failed: { [mailbox] in mailbox.post(.broken($0)) })
    current = (job, courier, (Clock.seconds, tally.counts.total))
    writeStatus(isUrgent: true)
    observe(.jobStarted(job: job.name, total: job.total, ended: tally.counts.total))
  }

  /// Ends the current job, if every entry of it has its row.
  func finishJobIfDone() throws {
    guard let (job, courier, _) = current, job.isDone else { return }
    courier.drain()
    current = nil
    try finish(job, job.outcome(at: Clock.milliseconds))
  }

  /// Fixes the outcome, writes the report, moves the manifest away and forgets what is no longer needed: in this order,
  /// so that each step can be done again.
  private func finish(_ job: Job, _ outcome: JobOutcome) throws {
    let now = Clock.milliseconds
    for var pause in pauses.open(since: job.started) {
      pause.ended = now
      try ledger.record(pause, run: job.runID)
    }
    let text = String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self)
    try ledger.advance(job.runID, to: .finishing, outcome: text)
    try ReportFile(job: job, outcome: outcome, ledger: ledger, state: state).write()
    if let path = job.manifest.inboxPath {
      do {
        try ManifestRemoval.remove(path, identity: job.manifest.identity)
      } catch {
        summary.hadTrouble = true
        observe(.warning("the manifest cannot be moved out of the inbox: \(error)"))
      }
    }
    markProcessed(job.manifest.file, identity: job.manifest.identity)
    try ledger.advance(job.runID, to: .ended)
    try? FileManager.default.removeItem(atPath: state.job(job.runID))
    let ended = JobSummary(
      job: job.name, state: outcome.state, counts: outcome.counts,
      problems: outcome.problems.map { ($0.place.isEmpty ? "" : $0.place + ": ") + $0.message },
      report: job.folder.report, seconds: Double(outcome.finished - job.started) / 1000)
    summary.jobs.append(ended)
    observe(.jobEnded(ended))
  }
}
