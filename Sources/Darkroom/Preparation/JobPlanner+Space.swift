import JobIndex
import Ledger
import Manifests
import Model
import Operations
import Planning
import System

/// The space that a job's plan needs in the state folder.
extension JobPlanner {
  /// The size of an index in bytes above which its total size is estimated when space runs out.
  private static let noticeable = 1 << 20

  /// Plans a manifest into an index.
  /// - Parameters:
  ///   - isInMemory: Whether the index of a small manifest may be in memory, unless there are names of the last run.
  ///   - lastNames: The run whose names are kept; nil when none are known.
  /// - Returns: The index, and the problems and warnings of the manifest. It is a problem when the file system is too
  ///   small for it.
  /// - Throws: `SpaceNeeded` when there is no space for the index now; the errors of `Planner.plan`.
  func makeIndex(
    _ task: Task, isInMemory: Bool, lastNames: LedgerNamedRun?
  ) throws -> (JobIndex, ManifestFindings) {
    if let why = task.manifest.tooLarge {
      return (try indexes.take(), ManifestFindings(problems: [ManifestProblem(.tooLarge, why, at: .file)]))
    }
    guard let journal else { return try makeIndexUnrecorded(task, isInMemory: isInMemory, lastNames: lastNames) }
    let made = try journal.reading(manifestOf: task.job.runID, isCancelled: task.isCancelled) {
      try makeIndexUnrecorded(task, isInMemory: isInMemory, lastNames: lastNames)
    }
    if let made { return made }
    // A run that has begun was planned before, and its rows stay.
    guard task.job.state == .accepted else {
      return try makeIndexUnrecorded(task, isInMemory: isInMemory, lastNames: lastNames)
    }
    let why = "the program ended \(FiltrationJournal.suspectAfter + 1) times while it read this manifest"
    return (try indexes.take(), ManifestFindings(problems: [ManifestProblem(.syntax, why, at: .file)]))
  }

  private func makeIndexUnrecorded(
    _ task: Task, isInMemory: Bool, lastNames: LedgerNamedRun?
  ) throws -> (JobIndex, ManifestFindings) {
    let list = task.manifest.list
    let size = try FileStatus(of: task.snapshot).size + (list?.bytes ?? 0)
    let isPacked = task.snapshot.hasSuffix(".gz") || list?.isCompressed == true
    let isSmall = isInMemory && lastNames == nil && size <= Self.memoryLimit && !isPacked
    let path = state.index(task.job.runID)
    do {
      let index = try isSmall ? indexes.take() : JobIndex(creating: .file(path))
      let check = { if try Folder.freeSpace(state.path) < configuration.minFree { throw FreeSpaceIsScarce() } }
      let findings = try task.planner.plan(
        into: index, isCancelled: task.isCancelled, lastNames: { try copyNames(of: lastNames, to: index) },
        checkSpace: isSmall ? {} : check)
      return (index, findings)
    } catch let error where error.isOutOfSpace && !isSmall {
      let reached = (try? FileStatus(of: path).size) ?? 0
      guard reached >= Self.noticeable else { throw error }
      state.removeIndex(task.job.runID)
      let needed = reached / 4 * 5
      let room = try Folder.totalSpace(state.path) - configuration.minFree
      guard size + needed > room else { throw SpaceNeeded(bytes: needed, file: task.manifest.file) }
      let why =
        "its index needs more than \(ByteCount(reached)), and the state folder's file system has room for "
        + "\(ByteCount(room))"
      return (try indexes.take(), ManifestFindings(problems: [ManifestProblem(.tooLarge, why, at: .file)]))
    }
  }

  /// Thrown when less than `--min-free` is free.
  private struct FreeSpaceIsScarce: LocalError {
    var cause: ErrorCause { .space }
  }
}
