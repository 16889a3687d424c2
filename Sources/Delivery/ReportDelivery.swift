import Glibc
import Ledger
import Model
import System

/// The documents of a finished run, written and synced in staging, on their way to the outbox.
///
/// They are delivered once, like results: what they are is recorded before they are renamed, and from then on they are not
/// written again. A document that is no longer in staging was renamed, and whoever waited for it may have taken it away.
package struct ReportDelivery: Sendable {
  /// What was delivered, and what went wrong without consequences for it.
  package struct Outcome: Sendable {
    package let job: JobOutcome
    /// Why the manifest is still in the inbox; nil when it is not.
    package var manifestTrouble: String?
  }

  package let run: RunContext
  package let manifest: JobManifest
  package let outcome: JobOutcome

  /// In the order in which they are placed: the report is the last.
  let documents: [Delivery]

  /// What is recorded before they are renamed.
  let intent: LedgerChange

  /// Whether some of them may have been placed already: by an earlier attempt, or by a process that died.
  package var isRepeated = false

  /// Whether the manifest stays in the inbox if it cannot be taken out now.
  package var mayLeaveManifest = false

  /// What is recorded when they are on disk.
  var ends: [LedgerChange] {
    (outcome.countsForNext ? [.remember(run.runID, job: run.job)] : []) + [.advance(run.runID, to: .ended)]
  }

  /// The folders in which they are.
  var folders: [String] { [run.folder.path] }

  /// - Throws: `EncodingError`.
  init(run: RunContext, manifest: JobManifest, outcome: JobOutcome, documents: [Delivery]) throws {
    self.run = run
    self.manifest = manifest
    self.outcome = outcome
    self.documents = documents
    intent = .advance(run.runID, to: .finishing, outcome: try outcome.text, documents: documents)
  }

  /// The delivery that an earlier process recorded.
  /// - Returns: nil when there is none, or when what is left of it in staging is not what was recorded.
  /// - Throws: `SystemError`, `DecodingError`, `EncodingError`.
  package init?(recorded job: LedgerJob, run: RunContext, manifest: JobManifest) throws {
    guard job.state == .finishing, !job.documents.isEmpty else { return nil }
    let staging = try run.staging.open()
    for document in job.documents {
      guard let status = try staging.status(of: document.staged) else { continue }
      // A manifest that was not read to its end.
      if document.sha256.isEmpty, status.identity.size == document.bytes { continue }
      guard try staging.holds(document.staged, bytes: document.bytes, sha256: document.sha256) else { return nil }
    }
    try self.init(
      run: run, manifest: manifest, outcome: JobOutcome(text: job.outcome ?? ""), documents: job.documents)
    isRepeated = true
  }

  /// Whether all of them were placed, if they were recorded.
  /// - Throws: `SystemError`.
  package func isPlaced() throws(SystemError) -> Bool {
    let staging = try run.staging.open()
    for document in documents where try staging.status(of: document.staged) != nil { return false }
    return true
  }

  /// Gives the documents their final names.
  /// - Throws: `SystemError`.
  func place() throws(SystemError) {
    let staging = try run.staging.open()
    var left = documents
    if isRepeated {
      left = []
      for document in documents where try staging.status(of: document.staged) != nil { left.append(document) }
    }
    if left.isEmpty { return }
    // Whoever waited for the results may have taken the folder away.
    let folder = try run.folder.createDurably()
    for document in left {
      try staging.rename(document.staged, to: folder, as: document.target)
      // A rename between two names of one file, as after a crash, does nothing.
      try staging.remove(document.staged)
    }
  }

  /// Takes the manifest out of the inbox, if it is still the file that was processed.
  /// - Throws: `ManifestObstacle` when that may soon be possible: then it is tried again.
  func removeManifest() throws(ManifestObstacle) -> Outcome {
    var outcome = Outcome(job: outcome)
    guard let path = manifest.inboxPath else { return outcome }
    if manifest.tooLarge != nil, !documents.contains(where: { JobFolder.isManifest($0.target) }) {
      outcome.manifestTrouble = "\(path): it cannot be copied"
      return outcome
    }
    do throws(SystemError) {
      // That its second name was given to it changed its ctime.
      try ManifestRemoval.remove(path, identity: manifest.identity, wasLinked: manifest.tooLarge != nil)
    } catch  where !mayLeaveManifest && (error.isOutOfSpace || error.mayPassSoon && error.code != EROFS) {
      throw ManifestObstacle(error: error)
    } catch {
      outcome.manifestTrouble = "\(error)"
    }
    return outcome
  }
}
