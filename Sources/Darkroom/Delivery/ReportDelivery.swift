import Ledger
import System

/// The documents of a finished run, written and synced in staging, on their way to the outbox.
struct ReportDelivery: Sendable {
  /// A file in staging and the path that it is to have.
  struct Document: Sendable {
    let staged: String
    let path: String
  }

  /// What was delivered, and what went wrong without consequences for it.
  struct Outcome: Sendable {
    let job: JobOutcome
    /// Why the manifest is still in the inbox; nil for most.
    var manifestTrouble: String?
  }

  let run: RunContext
  let manifest: JobManifest
  let outcome: JobOutcome

  /// In the order in which they are placed: the report is the last.
  let documents: [Document]

  /// What is recorded before they are renamed.
  let intent: LedgerChange

  /// What is recorded when they are on disk.
  var ends: [LedgerChange] {
    (outcome.countsForNext ? [.remember(run.runID, job: run.job)] : []) + [.advance(run.runID, to: .ended)]
  }

  /// The folders in which they are.
  var folders: [String] { [run.folder.path] }

  /// - Throws: `EncodingError`.
  init(run: RunContext, manifest: JobManifest, outcome: JobOutcome, documents: [Document]) throws {
    self.run = run
    self.manifest = manifest
    self.outcome = outcome
    self.documents = documents
    intent = .advance(run.runID, to: .finishing, outcome: try outcome.text)
  }

  /// Gives the documents their final names. Done again after a crash, it gives the same.
  /// - Throws: `SystemError`.
  func place() throws(SystemError) {
    // Whoever waited for the results may have taken the folder away.
    let (folder, staging) = (try run.folder.createDurably(), try run.staging.open())
    for document in documents {
      let staged = Folder.name(of: document.staged)
      try staging.rename(staged, to: folder, as: Folder.name(of: document.path))
      // A rename between two names of one file, as after a crash, does nothing.
      try staging.remove(staged)
    }
  }

  /// Takes the manifest out of the inbox, if it is still the file that was processed.
  func removeManifest() -> Outcome {
    var outcome = Outcome(job: outcome)
    guard let path = manifest.inboxPath else { return outcome }
    do {
      try ManifestRemoval.remove(path, identity: manifest.identity)
    } catch {
      outcome.manifestTrouble = "\(error)"
    }
    return outcome
  }
}
