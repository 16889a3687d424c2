import Dispatch
import Inbox
import Ledger
import Model
import Planning
import Synchronization

/// Accepts a manifest and plans its job, on a queue of its own, so that a million lines do not block anything.
final class JobPlanning: Sendable {
  /// The source of a job.
  indirect enum Source: Sendable, Equatable {
    /// A job that an earlier process left unfinished.
    case unfinished(LedgerJob)
    /// A file that was named as an argument.
    case named(NamedManifest)
    /// A settled manifest of the inbox.
    case dropped(InboxScan.Manifest)
  }

  /// A request to plan a job.
  struct Request: Sendable {
    let source: Source
    /// Whether the manifest will replace that of a live run, which keeps its files until then. Default: false.
    var isReplacement = false
    /// Whether the source is a live run of this process that was planned before. Default: false.
    var isAccepted = false
    /// Whether the job is planned only to be cancelled. Default: false.
    var isUnwanted = false
    /// The list that this process has downloaded from the run's source, until the ledger has it. Default: nil.
    var fetched: JobPlanner.Fetched?
  }

  /// The result of planning.
  enum Result: Sendable {
    case planned(Plan)
    /// The file was changed or removed. The next scan finds out more.
    case notSettled
    /// The job of the file has ended, and only the file could not be moved. Contains the error of moving it now.
    case alreadyDone(trouble: String?)
    case cancelled
    /// A later run superseded it before any of its entries had ended. Nothing of it is left.
    case superseded(runID: String)
    /// The job is unreadable, and was removed from the ledger.
    case setAside(DamagedJob)
  }

  private let request: Request
  private let number: Int
  private let planner: JobPlanner
  private let pauses: [LedgerPause]
  private let isCancelled = Atomic(false)

  /// - Parameters:
  ///   - number: The run's number in this process.
  ///   - pauses: The current pauses. Default: none.
  init(_ request: Request, number: Int, planner: JobPlanner, during pauses: [LedgerPause] = []) {
    self.request = request
    self.number = number
    self.planner = planner
    self.pauses = pauses
  }

  /// Starts planning.
  /// - Parameters:
  ///   - group: The group that contains the planning until it has ended.
  ///   - accepted: Called on another thread when the job is in the ledger, unless it was accepted before.
  ///   - listed: Called on another thread, after `accepted`, when the list of entries is in the ledger, whatever the
  ///     result of planning.
  ///   - completion: Called once, on another thread, after the others.
  func start(
    in group: DispatchGroup,
    accepted: @escaping @Sendable (LedgerJob, JobManifest) -> Void,
    listed: @escaping @Sendable (LedgerJob, JobManifest) -> Void,
    completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    JobThreads.planning.run(in: group) { [self] in
      completion(Swift.Result { try plan(accepted, listed) })
    }
  }

  /// Cancels planning. An accepted job stays in the ledger.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  private func plan(
    _ accepted: (LedgerJob, JobManifest) -> Void, _ listed: @escaping (LedgerJob, JobManifest) -> Void
  ) throws -> Result {
    let isCancelled = { self.isCancelled.load(ordering: .relaxed) }
    do {
      let job: LedgerJob
      var isResumed = false
      switch request.source {
      case .unfinished(let unfinished):
        job =
          try request.fetched.map { try planner.adopt($0, for: unfinished, isRepeated: !request.isAccepted) }
          ?? unfinished
        isResumed = !request.isAccepted
      case .named(let file): job = try planner.accept(file, during: pauses, isCancelled: isCancelled)
      case .dropped(let manifest):
        if let done = planner.removeIfDone(manifest) { return done }
        guard let new = try planner.accept(manifest, during: pauses, isCancelled: isCancelled) else {
          return .notSettled
        }
        job = new
      }
      let manifest = try planner.manifest(of: job)
      if !request.isAccepted { accepted(job, manifest) }
      if request.fetched != nil { listed(job, manifest) }
      return .planned(
        try planner.plan(
          job, manifest, number: number, isResumed: isResumed, isReplacement: request.isReplacement,
          isUnwanted: request.isUnwanted, isCancelled: isCancelled, listed: listed))
    } catch is CancellationError {
      return .cancelled
    } catch let superseded as SupersededRun {
      return .superseded(runID: superseded.runID)
    } catch let damaged as DamagedJob {
      return .setAside(try planner.setAside(damaged))
    }
  }
}
