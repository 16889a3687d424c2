import JobIndex
import Ledger
import Manifests
import Model
import Planning
import System
import Transfer

/// Jobs whose entries are listed elsewhere. They are planned to find the source, and again with the downloaded list.
extension JobPlanner {
  /// A list from a job's source, which is stored in the state folder.
  struct Fetched: Sendable {
    /// The requested URL, as written.
    let url: String
    let source: PhotoRecord.Source
  }

  /// The list from the source of a job's manifest; nil when there is none (yet).
  /// - Throws: `DamagedJob` when its format is of another version.
  func list(of job: LedgerJob, _ manifest: JobManifest) throws -> ManifestContent.List? {
    guard let list = manifest.list else { return nil }
    guard let format = ManifestFormats.all.first(where: { $0.name == list.format }) else {
      throw DamagedJob(job: job, why: "the format of its source is \(list.format), which this version does not know")
    }
    let file = ManifestFile(path: state.list(job.runID), isCompressed: list.isCompressed)
    return ManifestContent.List(format: format, file: file, url: list.finalURL, base: list.base)
  }

  /// Records a job's list. After that the job is planned from it, even after a crash.
  /// - Parameter isRepeated: Whether recording it failed before. Default: false.
  /// - Returns: The updated job; the unchanged job when the file of the list is missing or damaged.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`.
  func adopt(_ fetched: Fetched, for job: LedgerJob, isRepeated: Bool = false) throws -> LedgerJob {
    var (job, manifest) = (job, try manifest(of: job))
    let source = fetched.source
    if isRepeated {
      let file = try? state.openJobs().open(reading: state.listName(job.runID))
      guard let file, (try? MessageDigest.hexDigest(ofDescriptor: file.descriptor)) == source.sha256 else { return job }
    }
    let (format, isCompressed) = try ListRecognition.format(
      url: fetched.url, contentType: source.contentType, path: state.list(job.runID))
    manifest.list = FetchedList(
      format: format.name, isCompressed: isCompressed, sha256: source.sha256, bytes: source.bytes,
      url: SourceLocation.redacted(fetched.url), finalURL: source.finalURL, httpStatus: source.httpStatus)
    job.details = try manifest.text
    try ledger.commit([.describe(job.runID, details: job.details)])
    return job
  }

  /// Plans the download of a job's source.
  /// - Parameters:
  ///   - index: An index whose only entry is the source.
  ///   - movedAway: As `Plan.EarlierRuns.movedAway`.
  func planSource(
    _ source: Entry, _ task: Task, _ run: RunContext, _ index: JobIndex, _ findings: ManifestFindings,
    movedAway: [String], _ unsynced: [String]
  ) throws -> Plan {
    let job = task.job
    let deferred = try deferredEntries(of: run, index)
    try index.prepareHosts()
    return Plan(
      job: job, run: run, manifest: task.manifest, index: index, total: 0, next: try finishing(job) ?? .fetch(source),
      findings: findings, earlier: .init(movedAway: movedAway), sources: SourceCounts(total: 0),
      start: Plan.Start(deferred: deferred),
      pauses: try pauses(of: task), unsynced: unsynced)
  }
}
