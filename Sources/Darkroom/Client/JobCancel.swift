import Glibc
import Inbox
import Model
import System

/// Asks for jobs to be cancelled: an instance does it at its next scan, or the next that starts.
package struct JobCancel {
  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// What was asked for.
  package struct Asked {
    /// The names of the jobs, as they were given; of all, sorted.
    package let jobs: [String]

    package let isRunning: Bool
  }

  /// Asks for all runs of jobs that are open now, also of those whose manifests are still in the inbox.
  /// - Throws: `StopError.missing` when a job is not open; the open ones have been asked for by then. `SystemError`.
  package func cancel(_ jobs: [String]) throws -> Asked {
    let open = try OpenRuns(configuration)
    let names = jobs.map(PortableName.job)
    try ask(names.flatMap { open.keys[$0] ?? [] })
    let unknown = names.filter { open.keys[$0] == nil }
    if !unknown.isEmpty {
      let names = unknown.map { "\"\($0)\"" }.joined(separator: ", ")
      throw StopError.missing(
        open.obstacle ?? "there is no open job \(names): no manifest in the inbox, and no run that has not ended")
    }
    return Asked(jobs: jobs, isRunning: open.isRunning)
  }

  /// Asks for all runs that are open now.
  /// - Throws: `StopError.missing` when it cannot be told which are open; the known ones have been asked for by then.
  ///   `SystemError`.
  package func cancelAll() throws -> Asked {
    let open = try OpenRuns(configuration)
    try ask(open.keys.values.flatMap { $0 })
    if let obstacle = open.obstacle { throw StopError.missing(obstacle) }
    return Asked(jobs: open.keys.keys.sorted(), isRunning: open.isRunning)
  }

  /// The runs that have not ended, and the manifests that nobody has accepted.
  private struct OpenRuns {
    /// What requests call them, by job.
    private(set) var keys: [String: [String]] = [:]
    let isRunning: Bool

    /// Why some may be unknown; nil when all are known.
    let obstacle: String?

    init(_ configuration: Configuration) throws {
      // A manifest that is accepted meanwhile is one of both.
      let scan = try Inbox(path: configuration.inbox, extraLock: nil).scan()
      let status = try StatusReader(configuration: configuration).read(countsRows: false)
      for job in status.jobs { keys[job.job, default: []].append(job.run_id) }
      for manifest in scan.manifests { keys[manifest.job, default: []].append(manifest.cancelKey) }
      isRunning = status.running
      let unexamined = scan.unexamined.first.map { "\($0.file) in the inbox cannot be examined: \($0.why)" }
      let unknown = status.jobs_unknown ?? unexamined
      obstacle = unknown.map { "which jobs are open cannot be told: \($0)" }
    }
  }

  private func ask(_ keys: [String]) throws(SystemError) {
    let inbox = try OpenFolder(configuration.inbox)
    for key in keys {
      do throws(SystemError) {
        _ = try inbox.create(file: CancelRequest.name(key), mode: 0o644)
      } catch  where error.code == EEXIST {}
    }
    try inbox.sync()
  }
}
