import Foundation
import Ledger
import Synchronization

/// Makes an accepted job ready on a queue of its own, so that the loop hears signals and sees locks while a million
/// lines are planned.
final class Preparation: Sendable {
  /// A job that can be begun.
  struct Prepared: @unchecked Sendable {  // handed over once, so that it has one owner at a time
    let manifest: JobManifest
    let index: JobIndex
    let work: JobWork
    let folder: JobFolder
    let staging: Staging

    /// What earlier runs of the job delivered; nil when that is nothing.
    let reuse: Reuse?

    /// What makes the manifest rejected; empty when it is fine.
    let problems: [ManifestProblem]

    /// What the rows of earlier processes add up to.
    let tally: JobTally
  }

  let job: LedgerJob

  let manifest: JobManifest
  private let outbox: OutboxFolder
  private let state: StateFolder
  private let ledger: Ledger
  private let isCancelled = Atomic(false)

  /// - Throws: `DecodingError` when the ledger's entry of the job makes no sense.
  init(_ job: LedgerJob, outbox: OutboxFolder, state: StateFolder, ledger: Ledger) throws {
    self.job = job
    manifest = try JobManifest(text: job.details)
    self.outbox = outbox
    self.state = state
    self.ledger = ledger
  }

  /// Starts. `completion` is called once, on another thread, with `CancellationError` if it was cancelled in time.
  func start(_ completion: @escaping @Sendable (Result<Prepared, any Error>) -> Void) {
    DispatchQueue(label: "Preparation").async { completion(Result { try self.prepare() }) }
  }

  /// Ends it soon. The job stays in the ledger.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  private func prepare() throws -> Prepared {
    guard let format = ManifestFormats.all.first(where: { $0.name == manifest.format }) else {
      throw StopError.broken("the ledger has a job of format \(manifest.format), which this version does not know")
    }
    let folder = outbox.job(job.name)
    try Folder.createDurably(folder.path)
    let index = try JobIndex(creating: state.index(job.runID))
    let snapshot = ManifestFile(path: state.snapshot(job.runID, extension: manifest.fileExtension))
    let planner = Planner(format: format, file: snapshot, defaults: try manifest.defaults)
    let problems = try planner.plan(into: index, isCancelled: { self.isCancelled.load(ordering: .relaxed) })
    if job.state == .accepted { try History(folder: folder).putAside() }
    let staging = Staging(folder: outbox.staging(of: state), runID: job.runID)
    let placement = Placement(folder: folder, staging: staging, ledger: ledger)
    let tally =
      try job.state == .accepted
      ? JobTally() : Recovery(placement: placement, runID: job.runID, index: index).recover()
    let reuse = try ledger.hasOutputs(job: job.name) ? Reuse(folder: folder, ledger: ledger) : nil
    return Prepared(
      manifest: manifest, index: index, work: try JobWork(index), folder: folder, staging: staging, reuse: reuse,
      problems: problems, tally: tally)
  }
}
