import Glibc
import Ledger
import Model
import System

/// The documents of a finished run, written and synced in staging, that are delivered to the outbox.
///
/// They are delivered once, like results. They are recorded before they are renamed, and not written again after that.
/// A document that is missing in staging was renamed, and a consumer may have moved it away.
package struct ReportDelivery: Sendable {
  /// The result of a delivery, and problems that did not prevent it.
  package struct Outcome: Sendable {
    package let job: JobOutcome
    /// Why the manifest is still in the inbox; nil when it was removed.
    package var manifestTrouble: String?
    /// The new paths of files of others that had the names of documents.
    package var movedAway: [String] = []
  }

  package let run: RunContext
  package let manifest: JobManifest
  package let outcome: JobOutcome

  /// The documents in the order in which they are renamed. The report is the last.
  let documents: [Delivery]

  /// The changes to commit before they are renamed.
  let intents: [LedgerChange]

  /// The head of the report, if this process has written it.
  package let head: ReportHead?

  /// The warning that `--prune` has removed nothing, or not everything; nil without one.
  package var notPruned: String?

  /// The number of files that `--prune` has removed. Default: 0.
  package var pruned = 0

  /// Whether some documents may have their final names already, by an earlier attempt or a process that died.
  package var isRepeated = false

  /// Whether a manifest that cannot be removed from the inbox now stays there.
  package var mayLeaveManifest = false

  /// The changes to commit when the documents are durable.
  var ends: [LedgerChange] {
    (outcome.countsForNext ? [.remember(run.runID, job: run.job)] : [])
      + [.advance(run.runID, to: .ended), .release(run.runID, at: Clock.wallMilliseconds)]
  }

  /// The folders of the documents.
  var folders: [String] { [run.folder.path] }

  /// - Parameter notices: What is to be done when the run has ended. Default: nothing, or what is recorded.
  /// - Throws: `EncodingError`.
  init(
    run: RunContext, manifest: JobManifest, outcome: JobOutcome, documents: [Delivery], head: ReportHead? = nil,
    notices: [LedgerNotice] = []
  ) throws {
    self.run = run
    self.manifest = manifest
    self.outcome = outcome
    self.documents = documents
    self.head = head
    intents =
      [.advance(run.runID, to: .finishing, outcome: try outcome.text, documents: documents)]
      + notices.map(LedgerChange.announce)
  }

  /// A delivery that an earlier process recorded.
  /// - Returns: nil when there is none, or when the documents in staging differ from the record.
  /// - Throws: `SystemError`, `DecodingError`, `EncodingError`.
  package init?(recorded job: LedgerJob, run: RunContext, manifest: JobManifest) throws {
    guard job.state == .finishing, !job.documents.isEmpty else { return nil }
    let staging = try run.staging.open()
    for document in job.documents {
      guard let status = try staging.status(of: document.staged) else { continue }
      // A manifest that was not read completely.
      if document.sha256.isEmpty, status.identity.size == document.bytes { continue }
      guard try staging.holds(document.staged, bytes: document.bytes, sha256: document.sha256) else { return nil }
    }
    try self.init(
      run: run, manifest: manifest, outcome: JobOutcome(text: job.outcome ?? ""), documents: job.documents)
    isRepeated = true
  }

  /// Whether all documents have been renamed, if they were recorded.
  /// - Throws: `SystemError`.
  package func isPlaced() throws(SystemError) -> Bool {
    let staging = try run.staging.open()
    for document in documents where try staging.status(of: document.staged) != nil { return false }
    return true
  }

  /// Moves the documents to their final names. What somebody else has put there meanwhile is moved to `history`.
  /// - Returns: The new paths of such files.
  /// - Throws: `SystemError`.
  @discardableResult
  func place() throws(SystemError) -> [String] {
    let staging = try run.staging.open()
    var left = documents
    if isRepeated {
      left = []
      for document in documents where try staging.status(of: document.staged) != nil { left.append(document) }
    }
    if left.isEmpty { return [] }
    var movedAway: [String] = []
    // A consumer may have moved the folder away.
    let folder = try run.folder.createDurably()
    let isOwn = run.isInHistory || hasOwnReport(folder)
    let aside = "history/" + History.othersPrefix + RunID.make()
    for document in left {
      if isOwn {
        try staging.rename(document.staged, to: folder, as: document.target)
      } else if let moved = try place(document, from: staging, in: folder, movingTo: aside) {
        movedAway.append(moved)
      }
      // Renaming a file to another name of the same file does nothing.
      try staging.remove(document.staged)
    }
    return movedAway
  }

  /// - Returns: The new path of what had the name of the document; nil when nothing had, or the same document.
  private func place(
    _ document: Delivery, from staging: OpenFolder, in folder: OpenFolder, movingTo aside: String
  ) throws(SystemError) -> String? {
    if try staging.renameWithoutReplacing(document.staged, to: folder, as: document.target) { return nil }
    // Also where a rename is a link followed by a removal, and the file has both names after a crash.
    if try folder.holds(document.target, bytes: document.bytes, sha256: document.sha256) {
      try staging.rename(document.staged, to: folder, as: document.target)
      return nil
    }
    let moved = try History(folder: run.folder).move(document.target, of: folder, to: aside)
    guard try staging.renameWithoutReplacing(document.staged, to: folder, as: document.target) else {
      throw SystemError("rename", folder.path + "/" + document.target, code: EEXIST)
    }
    return moved
  }

  /// Whether the documents in the job's folder are this run's, as when the state folder was restored from a backup since they were
  /// delivered.
  private func hasOwnReport(_ folder: OpenFolder) -> Bool {
    guard let report = try? folder.open(reading: Folder.name(of: run.folder.report)) else { return false }
    return (try? ReportHead(of: report))?.runID == run.runID
  }

  /// Removes the manifest from the inbox, if it is still the file that was processed.
  /// - Throws: `ManifestObstacle` when it may be possible soon. The removal is then tried again.
  func removeManifest() throws(ManifestObstacle) -> Outcome {
    var outcome = Outcome(job: outcome)
    guard let path = manifest.inboxPath else { return outcome }
    if manifest.tooLarge != nil, !documents.contains(where: { JobFolder.isManifest($0.target) }) {
      outcome.manifestTrouble = "\(path): it cannot be copied"
      return outcome
    }
    do throws(SystemError) {
      // Linking the manifest changed its ctime.
      try ManifestRemoval.remove(path, identity: manifest.identity, wasLinked: manifest.tooLarge != nil)
    } catch  where !mayLeaveManifest && (error.isOutOfSpace || error.mayPassSoon && error.code != EROFS) {
      throw ManifestObstacle(error: error)
    } catch {
      outcome.manifestTrouble = "\(error)"
    }
    return outcome
  }
}
