import Glibc
import JSON
import Ledger
import Manifests
import Model
import Planning
import System
import Transfer

/// Jobs whose entries are the files of a folder. The listing is treated like a downloaded list.
extension JobPlanner {
  /// Lists the folder that is a job's source, and records the listing. After that the job is planned from it, even
  /// after a crash.
  /// - Returns: The updated task; nil when its source is not a folder.
  /// - Throws: `TransferError` when the folder cannot be listed, which rejects the job; `SystemError`, `SQLiteError`,
  ///   `LedgerError`; `CancellationError` soon after the task's `isCancelled` returns true.
  func listFolder(_ source: Entry, _ task: Task) throws -> Task? {
    guard source.urls.count == 1, let location = FolderLocation(parsing: source.urls[0]) else { return nil }
    let folder = try open(location)
    // A file may have a name that looks like a pattern.
    if let pattern = location.pattern, try folder.status(of: pattern)?.kind == .file { return nil }
    let listing = try FolderListing(location: location, settleTime: configuration.settle)
      .list(folder, isCancelled: task.isCancelled)
    var (job, manifest) = (task.job, task.manifest)
    let (sha256, bytes) = try write(listing, as: state.listName(job.runID))
    manifest.list = FetchedList(
      format: "jsonl", isCompressed: false, sha256: sha256, bytes: bytes, url: location.redacted,
      finalURL: location.redacted, httpStatus: nil, warnings: listing.warnings.isEmpty ? nil : listing.warnings,
      isIncomplete: listing.isIncomplete ? true : nil)
    job.details = try manifest.text
    try ledger.commit([.describe(job.runID, details: job.details)])
    task.listed(job, manifest)
    var planner = task.planner
    planner.content.list = try list(of: job, manifest)
    return Task(
      job: job, run: task.run, manifest: manifest, planner: planner, snapshot: task.snapshot,
      isResumed: task.isResumed, isReplacement: task.isReplacement, isCancelled: task.isCancelled, listed: task.listed)
  }

  private func open(_ location: FolderLocation) throws -> OpenFolder {
    switch Result(catching: { () throws(TransferError) in try location.open(configuration.transfer) }) {
    case .success(let folder): return folder
    // The machine failed, which is not a property of the folder.
    case .failure(let error) where error.code == .io:
      throw SystemError("open", location.redacted, code: error.systemError ?? EIO)
    case .failure(let error): throw error
    }
  }

  /// Writes a listing durably, with one URL per line.
  /// - Returns: Its digest and size.
  private func write(_ listing: FolderListing.Result, as name: String) throws -> (sha256: String, bytes: Int) {
    let jobs = try state.openJobs()
    try jobs.remove(name)
    do {
      let file = try jobs.create(file: name, mode: 0o600)
      let digest = MessageDigest()
      var bytes = 0
      for start in stride(from: 0, to: listing.urls.count, by: 1000) {
        let urls = listing.urls[start..<min(start + 1000, listing.urls.count)]
        let text = urls.map { JSONValue.string($0).text + "\n" }.joined()
        try file.write(text)
        digest.update(text)
        bytes += text.utf8.count
      }
      try file.sync()
      try jobs.sync()
      return (digest.hexDigest(), bytes)
    } catch {
      // On a full disk the space is needed by others.
      try? jobs.remove(name)
      throw error
    }
  }
}
