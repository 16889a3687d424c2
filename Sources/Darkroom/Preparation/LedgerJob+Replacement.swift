import Ledger
import System

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
