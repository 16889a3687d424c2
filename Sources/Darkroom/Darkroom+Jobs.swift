import Foundation
import Imaging
import Ledger

/// The beginning and the end of a job. What goes wrong with one job is told, and the others go on; want of space is
/// waited out.
extension Darkroom {
  // MARK: Acceptance

  /// Accepts a manifest of the inbox and begins its job.
  func take(_ manifest: InboxScan.Manifest) throws {
    let path = inbox.file(manifest.file)
    if hasEnded(manifest) { return try removeAgain(path, manifest) }
    guard let format = ManifestFileName(manifest.file)?.format else { return }
    try withTrouble(about: manifest.file, otherwise: { choice.pass(manifest.file, identity: manifest.identity.text) }) {
      let accepted = try acceptance.accept(
        path: path, job: manifest.job, format: format.name, isInbox: true, as: manifest.identity)
      // Without a job it was not settled after all: the next look tells more.
      guard let accepted else { return }
      choice.pass(manifest.file, identity: manifest.identity.text)
      try begin(accepted)
    }
  }

  /// Whether a file is one whose job ended, and that only could not be moved away.
  private func hasEnded(_ manifest: InboxScan.Manifest) -> Bool {
    guard let ended = try? ledger.lastEnded(job: manifest.job), let known = try? JobManifest(text: ended.details) else {
      return false
    }
    return known.file == manifest.file && known.identity == manifest.identity.text
  }

  private func removeAgain(_ path: String, _ manifest: InboxScan.Manifest) throws {
    choice.pass(manifest.file, identity: manifest.identity.text)
    do {
      try ManifestRemoval.remove(path, identity: manifest.identity.text)
    } catch {
      summary.hadTrouble = true
      observe(.warning("\(manifest.file) is done, and cannot be moved out of the inbox: \(error)"))
    }
  }

  /// Looks whether a named file can be a manifest.
  /// - Throws: `StopError.missing`.
  func checkNamed(_ path: String) throws {
    let file = Folder.name(of: path)
    guard let name = ManifestFileName(file) else { throw StopError.missing("\(path): \(ManifestFormats.refusal)") }
    let job = name.visibleStem
    guard !job.isEmpty, job.utf8.count <= InboxFile.jobNameLimit else {
      throw StopError.missing("\(path): the job's name must have 1 to \(InboxFile.jobNameLimit) bytes")
    }
    do {
      guard try OpenFile(reading: path).status().kind == .file else {
        throw StopError.missing("\(path): it is no file")
      }
    } catch let error as SystemError {
      throw StopError.missing(error.description)
    }
  }

  /// Accepts a manifest that was named as an argument, and begins its job. It stays where it is, unless it lies in the
  /// inbox. One that an earlier process had begun with has been resumed already.
  func takeNamed(_ path: String) throws {
    let dropped = inboxFile(ledToBy: path)
    guard let name = ManifestFileName(dropped ?? Folder.name(of: path)) else { return }
    try withTrouble(about: path, otherwise: {}, again: { choice.retry(named: path) }) {
      let identity = try OpenFile(reading: path).status().identity.text
      if choice.hasResumed(identity) { return }
      let accepted = try acceptance.accept(
        path: dropped.map(inbox.file) ?? path, job: name.visibleStem, format: name.format.name, isInbox: dropped != nil)
      guard let accepted else { throw StopError.missing("\(path): it is being written, or went away") }
      try begin(accepted)
    }
  }

  /// The name of the file of the inbox that a path leads to, by a symbolic link or not.
  /// - Returns: nil when it leads elsewhere, or to a file that cannot be dropped: then it is a file like any other.
  private func inboxFile(ledToBy path: String) -> String? {
    guard let resolved = try? Folder.resolved(path), Folder.parent(of: resolved) == inbox.path else { return nil }
    let file = Folder.name(of: resolved)
    guard let job = ManifestFileName(file)?.visibleStem, (1...InboxFile.jobNameLimit).contains(job.utf8.count) else {
      return nil
    }
    return file
  }

  private var acceptance: Acceptance { Acceptance(state: state, ledger: ledger, configuration: configuration) }

  /// The inbox file of a job that is in the ledger needs no further look.
  func pass(_ job: LedgerJob) throws {
    let manifest = try JobManifest(text: job.details)
    if manifest.inboxPath != nil { choice.pass(manifest.file, identity: manifest.identity) }
  }

  /// Runs something that is about one manifest. Want of space pauses the queues, and it is tried again; other trouble is
  /// told, and is nobody else's.
  /// - Parameter otherwise: Called when it is not to be tried again.
  private func withTrouble(
    about what: String, otherwise: () -> Void, again: () -> Void = {}, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as any OutOfSpaceError where error.isOutOfSpace {
      pauseForSpace()
      again()
    } catch let error where !(error is SQLiteError) && !(error is StopError) {
      summary.hadTrouble = true
      observe(.warning("\(what) cannot be worked on now: \(error)"))
      otherwise()
    }
  }

  // MARK: Beginning

  /// Starts working on a job, or goes on where an earlier process was killed. A job that cannot be worked on stays in the
  /// ledger, for the next start.
  func begin(_ accepted: LedgerJob) throws {
    try withTrouble(about: "job \(accepted.name)", otherwise: {}, again: { choice.retry(accepted) }) {
      let preparation = try Preparation(accepted, outbox: outbox, state: state, ledger: ledger)
      try takeUpPauses(of: accepted.runID, started: preparation.manifest.accepted)
      preparing = preparation
      observe(.jobAccepted(job: accepted.name, file: preparation.manifest.file))
      preparation.start { [mailbox] in mailbox.post(.prepared(accepted, $0)) }
    }
  }

  /// Takes in a job that has been made ready.
  func takeIn(_ prepared: Result<Preparation.Prepared, any Error>, of job: LedgerJob) throws {
    preparing = nil
    if case .failure(is CancellationError) = prepared { return }
    if stopDeadline != nil { return }
    try withTrouble(about: "job \(job.name)", otherwise: {}, again: { choice.retry(job) }) {
      try start(job, prepared.get())
    }
  }

  private func start(_ accepted: LedgerJob, _ prepared: Preparation.Prepared) throws {
    let job = try Job(accepted, prepared, throttles: throttles)
    if accepted.state == .finishing {
      let outcome = try JSONDecoder().decode(JobOutcome.self, from: Data((accepted.outcome ?? "").utf8))
      finishing = (job, outcome)
    } else if !prepared.problems.isEmpty {
      finishing = (job, job.rejected(prepared.problems, at: Clock.milliseconds))
    } else {
      try ledger.advance(job.runID, to: .running)
      let courier = try Courier(job: job.folder, staging: job.staging, ledger: ledger, cache: cache) { [mailbox] in
        mailbox.post($0)
      }
      let ended = job.tally.counts.total
      current = (job, courier, (Clock.seconds, ended))
      writeStatus(isUrgent: true)
      observe(.jobStarted(job: job.name, total: job.total, ended: ended))
    }
  }

  // MARK: The end

  /// Ends the job at hand, if every entry of it has its row.
  /// - Returns: Whether a job ended, so that the next may begin.
  func finishJobIfDone() throws -> Bool {
    if let (job, courier, _) = current, job.isDone {
      courier.drain()
      current = nil
      finishing = (job, job.outcome(at: Clock.milliseconds))
    }
    guard let (job, outcome) = finishing else { return false }
    writeFinishingStatus(of: job)
    try withTrouble(about: "the report of job \(job.name)", otherwise: { finishing = nil }) {
      try finish(job, outcome)
      finishing = nil
      // Who waits for the job is not to wait longer.
      nextStatus = 0
    }
    return finishing == nil
  }

  /// Fixes the outcome, writes the report, moves the manifest away and forgets what is no longer needed: in this order,
  /// so that each step can be done again.
  private func finish(_ job: Job, _ outcome: JobOutcome) throws {
    try closePauses()
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
    try ledger.advance(job.runID, to: .ended)
    try? FileManager.default.removeItem(atPath: state.job(job.runID))
    summary.states.insert(outcome.state)
    observe(
      .jobEnded(
        JobSummary(
          job: job.name, state: outcome.state, counts: outcome.counts, transfers: outcome.transfers,
          problems: outcome.problems.map { ($0.place.isEmpty ? "" : $0.place + ": ") + $0.message },
          report: job.folder.report, seconds: Double(outcome.finished - job.started) / 1000)))
  }
}
