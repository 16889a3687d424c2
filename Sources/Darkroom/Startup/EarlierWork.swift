import Delivery
import Glibc
import Inbox
import Ledger
import Model
import Operations
import System

/// The unfinished work of earlier processes, once it is recovered.
struct EarlierWork {
  let unfinished: [(job: LedgerJob, manifest: JobManifest)]

  /// The runs that are not cancelled when their manifests are missing: the inbox may not be the one that they came from, or
  /// the manifests were replaced by some that were rejected.
  let unknownRuns: Set<String>

  /// Which entries were being filtered; nil when it cannot be kept.
  let journal: FiltrationJournal?

  /// Notice that results are made again which waited to be delivered; nil when none were lost.
  let notice: String?

  /// The problems of the recovery, a message each.
  let troubles: [String]

  /// Sets damaged jobs aside, completes removals of manifests, and removes orphaned files.
  /// - Throws: `StopError.outbox` when the staging folder of unfinished deliveries is missing; `SystemError`, `SQLiteError`.
  init(_ folders: OwnedFolders, _ ledger: Ledger) throws {
    let (inbox, state) = (folders.inbox, folders.state)
    let store = DamagedJobs(state: state, outbox: folders.outbox, ledger: ledger)
    let (unfinished, damaged) = try store.takeOut(of: try ledger.liveJobs())
    var jobs = unfinished.map(\.job)
    unknownRuns = Set(
      try jobs.filter { job in
        try !folders.knowsInbox
          || ledger.laterRuns(than: job.runID, job: job.name).contains(where: \.isRejectedReplacement)
      }.map(\.runID))
    // An inbox that lacks the manifests of unfinished jobs may be another folder, and is not recorded as theirs.
    if folders.knowsInbox || !unfinished.contains(where: { $0.manifest.lies(in: inbox.path) }) {
      folders.rememberOutbox()
    }
    notice = try Self.takeBackLost(&jobs, folders, ledger)
    self.unfinished = zip(jobs, unfinished).map { ($0, $1.manifest) }
    // Without it everything works, but for a picture that ends the program again and again.
    journal = try? FiltrationJournal(in: state.openFolder(), runs: Set(jobs.map(\.runID)))
    troubles =
      damaged.map(\.description) + [Self.emptyParkingFolder(of: inbox, unfinished, ledger)].compactMap { $0 }
    try OrphanCleanup(staging: folders.staging, state: state).run(
      keeping: jobs + damaged.filter { $0.folder == nil }.map(\.job), ledger: ledger)
  }

  /// - Returns: Why that failed; nil when it did not.
  private static func emptyParkingFolder(
    of inbox: Inbox, _ unfinished: [(job: LedgerJob, manifest: JobManifest)], _ ledger: Ledger
  ) -> String? {
    let finishing = unfinished.filter { $0.job.state == .finishing }.map(\.manifest.identity)
    do {
      try ManifestRemoval.resume(inbox: inbox.folder, finishing: finishing) { file in
        guard case .manifest(let job) = InboxFile(named: FileName(file)), let ended = try? ledger.lastEnded(job: job),
          let manifest = try? JobManifest(text: ended.details), manifest.file.isIdentical(to: file)
        else { return nil }
        return manifest.identity
      }
      return nil
    } catch {
      return "what an earlier process was moving out of the inbox is left where it is: \(error)"
    }
  }

  /// Makes the staging folder the known one. Before that, takes back what an earlier process was about to deliver from another
  /// one, and has not delivered.
  /// - Returns: A message, if there was something.
  /// - Throws: `StopError.outbox` when there may be something and no staging folder was there: the outbox may not be mounted;
  ///   `SystemError`, `SQLiteError`.
  private static func takeBackLost(
    _ jobs: inout [LedgerJob], _ folders: OwnedFolders, _ ledger: Ledger
  ) throws -> String? {
    let (staging, path) = (folders.stagingFolder, folders.staging.path)
    var lost = 0
    if !staging.isKnown {
      let hasIntents = try jobs.contains { try !$0.documents.isEmpty || !ledger.intended(run: $0.runID).isEmpty }
      if hasIntents, !staging.wasThere {
        rmdir(path)
        throw StopError.outbox(
          "\(path): the folder is missing in which results wait to be delivered; is the outbox mounted? Create it to have "
            + "them made again")
      }
      lost = try LostDeliveries(outbox: folders.outbox, staging: folders.staging, ledger: ledger).takeBack(&jobs)
    }
    // Without space the next start does not know the folder.
    try? staging.remember(in: folders.state)
    guard lost > 0 else { return nil }
    return "\(lost.of("result or report", "results and reports")) that waited to be delivered are lost, and made again"
  }
}
