import Ledger
import Model
import Planning
import System
import Transfer

/// Jobs whose entries are the files of folders. The listing is treated like a downloaded list.
extension JobPlanner {
  /// Lists the folders that are a job's source, and records the listing. After that the job is planned from it, even after a
  /// crash.
  /// - Returns: The updated task; nil when the source is the path of a file that looks like a pattern.
  /// - Throws: `TransferError` when a folder cannot be listed, which rejects the job; `SystemError`, `SQLiteError`, `LedgerError`;
  ///   `CancellationError` soon after the task's `isCancelled` returns true.
  func listFolder(_ source: FolderSource, _ task: Task) throws -> Task? {
    guard let listing = try source.list(configuration, isCancelled: task.isCancelled)
    else { return nil }
    var (job, manifest) = (task.job, task.manifest)
    let name = state.listName(job.runID)
    let jobs = try state.openJobs()
    try jobs.remove(name)
    do {
      let (sha256, bytes) = try listing.write(to: jobs.create(file: name, mode: 0o600))
      try jobs.sync()
      manifest.list = FetchedList(listing, of: source, sha256: sha256, bytes: bytes)
    } catch {
      // On a full disk the space is needed by others.
      try? jobs.remove(name)
      throw error
    }
    job.details = try manifest.text
    try ledger.commit([.describe(job.runID, details: job.details)])
    task.listed(job, manifest)
    var planner = task.planner
    planner.content.list = try list(of: job, manifest)
    return Task(
      job: job, run: task.run, manifest: manifest, planner: planner, snapshot: task.snapshot,
      isResumed: task.isResumed, isReplacement: task.isReplacement, isCancelled: task.isCancelled, listed: task.listed)
  }
}

extension FetchedList {
  init(_ listing: FolderListing.Result, of source: FolderSource, sha256: String, bytes: Int) {
    self.init(
      format: "jsonl", isCompressed: false, sha256: sha256, bytes: bytes, url: source.redacted,
      finalURL: source.redacted,
      httpStatus: nil, base: source.base, warnings: listing.warnings.isEmpty ? nil : listing.warnings,
      isIncomplete: listing.isIncomplete ? true : nil)
  }
}
