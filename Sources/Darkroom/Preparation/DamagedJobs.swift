import Foundation
import Inbox
import JSON
import Ledger
import Manifests
import Model
import Planning
import System

/// Sets unreadable jobs aside, so that the others continue. Files of such a job are moved to `damaged/RUNID`, and only
/// its deliveries stay in the ledger. Its manifest, if still in the inbox, is a new job.
struct DamagedJobs {
  let state: StateFolder
  let outbox: OutboxFolder
  let ledger: Ledger

  /// Reads the manifests of jobs, and sets aside jobs with damaged records.
  /// - Returns: The readable jobs, and those that were set aside.
  func takeOut(
    of jobs: [LedgerJob]
  ) throws -> (unfinished: [(job: LedgerJob, manifest: JobManifest)], damaged: [DamagedJob]) {
    var unfinished: [(job: LedgerJob, manifest: JobManifest)] = []
    var damaged: [DamagedJob] = []
    for job in jobs {
      do {
        unfinished.append((job, try Self.manifest(of: job)))
      } catch var found as DamagedJob {
        // A job that cannot be moved now is left for the next start.
        do { found.folder = try setAside(found) } catch let error where !error.isOfLedger(state) {}
        damaged.append(found)
      }
    }
    return (unfinished, damaged)
  }

  /// - Throws: `DamagedJob`.
  static func manifest(of job: LedgerJob) throws -> JobManifest {
    let manifest: JobManifest
    do {
      manifest = try JobManifest(text: job.details)
    } catch {
      throw DamagedJob(job: job, why: "its record is damaged")
    }
    guard ManifestFormats.all.contains(where: { $0.name == manifest.format }) else {
      throw DamagedJob(job: job, why: "its format is \(manifest.format), which this version does not know")
    }
    guard InboxFile.isJobName(job.name), RunID.isValid(job.runID) else {
      throw DamagedJob(job: job, why: "its record is damaged")
    }
    return manifest
  }

  /// - Returns: The folder to which the files were moved.
  /// - Throws: `SystemError`, `SQLiteError`.
  @discardableResult
  func setAside(_ damaged: DamagedJob) throws -> String {
    let job = damaged.job
    let isNamed = RunID.isValid(job.runID)
    let folder = state.damaged + "/" + (isNamed ? job.runID : String(MessageDigest.hexDigest(of: job.runID).prefix(16)))
    try Folder.createDurably(folder, mode: 0o700)
    try write(damaged, to: folder)
    if isNamed { try move(job.runID, to: folder) }
    try Folder.sync(folder)
    try ledger.commit(delivered(job) + [.remove(job.runID)])
    return folder
  }

  private func write(_ damaged: DamagedJob, to folder: String) throws {
    let job = damaged.job
    let record = JSONValue.object([
      "why": .string(damaged.why), "run_id": .string(job.runID), "job": .string(job.name),
      "state": .string(job.state.rawValue), "details": .string(job.details),
      "outcome": job.outcome.map { .string($0) },
    ])
    for name in ["record.json", "entries.jsonl"] { try Folder.removeFile(folder + "/" + name) }
    let file = try OpenFile(creating: folder + "/record.json", mode: 0o600)
    try file.write(record.text + "\n")
    try file.sync()
    let rows = try OpenFile(creating: folder + "/entries.jsonl", mode: 0o600)
    try ledger.eachEndedPage(run: job.runID) { page in try rows.write(page.map { $0.row + "\n" }.joined()) }
    try rows.sync()
  }

  private func move(_ runID: String, to folder: String) throws(SystemError) {
    let (jobs, target) = (try state.openJobs(), try OpenFolder(folder))
    for name in try jobs.names().compactMap(\.text) where StateFolder.runID(of: name) == runID {
      if name.hasSuffix(".index") {
        try jobs.remove(name)
      } else {
        try jobs.rename(name, to: target, as: name)
      }
    }
  }

  /// The changes that record its deliveries, including completed ones with only an intent.
  private func delivered(_ job: LedgerJob) throws -> [LedgerChange] {
    let folder = outbox.job(job.name)
    guard InboxFile.isJobName(job.name) else { return [] }
    return try ledger.intended(run: job.runID).flatMap { entry in
      entry.delivered(run: job.runID, job: job.name) { (try? folder.holds($0)) == true }
    }
  }
}

extension InboxFile {
  /// Whether a text can be a job's name, and is not a path.
  fileprivate static func isJobName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= jobNameLimit && !name.has("/") && name != "." && name != ".."
  }
}
