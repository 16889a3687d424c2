import Dispatch
import Foundation
import Inbox
import Ledger
import Manifests
import Model
import Planning
import Scheduling
import Synchronization
import System

/// Takes a manifest over and makes its job ready, on a queue of its own, so that nothing else waits while a million lines
/// are planned.
final class JobPlanning: Sendable {
  /// What is to be planned.
  indirect enum Source: Sendable, Equatable {
    /// A job that an earlier process left.
    case unfinished(LedgerJob)
    /// A file that was named as an argument.
    case named(NamedManifest)
    /// A settled manifest of the inbox.
    case dropped(InboxScan.Manifest)
  }

  /// What is to be planned, and how.
  struct Request: Sendable {
    let source: Source
    /// Whether the manifest is to take the place of that of a live run, which keeps its files meanwhile. Default: no.
    var isReplacement = false
    /// Whether the source is a live run of this process, which was planned before. Default: it is not.
    var isAccepted = false
    /// What the source of a run has listed, when that was downloaded by this process, and is not in the ledger. Default: nil.
    var fetched: JobPlanner.Fetched?
  }

  /// What became of it.
  enum Result: Sendable {
    case planned(Plan)
    /// The file changed or went away: the next scan tells more.
    case notSettled
    /// The file is one whose job has ended, and that could only not be moved away; with what keeps it from that now.
    case alreadyDone(trouble: String?)
    case cancelled
    /// It was superseded by a later one before anything of it had ended, and nothing of it is left.
    case superseded(runID: String)
    /// Nobody can work on it, and nothing of it is left in the ledger.
    case setAside(DamagedJob)
  }

  private let request: Request
  private let number: Int
  private let planner: JobPlanner
  private let pauses: [LedgerPause]
  private let isCancelled = Atomic(false)

  /// - Parameters:
  ///   - number: The run's, in this process.
  ///   - pauses: Those that hold. Default: none.
  init(_ request: Request, number: Int, planner: JobPlanner, during pauses: [LedgerPause] = []) {
    self.request = request
    self.number = number
    self.planner = planner
    self.pauses = pauses
  }

  /// Starts.
  /// - Parameters:
  ///   - group: Which it belongs to until it has ended.
  ///   - accepted: Called on another thread when the job is in the ledger, unless it was accepted before.
  ///   - listed: Called on another thread when what its source has listed is in the ledger, after `accepted`: from then on
  ///     that is the job's, whatever its planning comes to.
  ///   - completion: Called once, on another thread, after the others.
  func start(
    in group: DispatchGroup,
    accepted: @escaping @Sendable (LedgerJob, JobManifest) -> Void,
    listed: @escaping @Sendable (LedgerJob, JobManifest) -> Void,
    completion: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    DispatchQueue(label: "Planning").async(group: group) { [self] in
      completion(Swift.Result { try plan(accepted, listed) })
    }
  }

  /// Ends it soon. A job that was accepted stays in the ledger.
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
          isCancelled: isCancelled,
          listed: listed))
    } catch is CancellationError {
      return .cancelled
    } catch let superseded as SupersededRun {
      return .superseded(runID: superseded.runID)
    } catch let damaged as DamagedJob {
      return .setAside(try planner.setAside(damaged))
    }
  }
}
