import Glibc
import System

/// Asks for jobs to be cancelled: an instance does it at its next scan, or the next that starts.
package struct JobCancel {
  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// Asks for all runs of jobs that are open now, also of those whose manifests are still in the inbox.
  /// - Returns: Whether an instance is running.
  /// - Throws: `StopError.missing` when a job is not open, for those it has asked then that are; `SystemError`.
  package func cancel(_ jobs: [String]) throws -> Bool {
    let inbox = try OpenFolder(configuration.inbox)
    // A manifest that is accepted meanwhile is one of both.
    let manifests = try Inbox(path: configuration.inbox, extraLock: nil).scan().manifests
    let status = try StatusReader(configuration: configuration).read(countsRows: false)
    var unknown: [String] = []
    for job in jobs.map(PortableName.replacing) {
      let queued = manifests.filter { $0.job == job }.map(\.cancelKey)
      let keys = status.jobs.filter { $0.job == job }.map(\.run_id) + queued
      if keys.isEmpty { unknown.append(job) }
      for key in keys { try ask(key, in: inbox) }
    }
    try inbox.sync()
    if !unknown.isEmpty {
      let why = status.jobs_unknown.map { "which jobs are open cannot be told: \($0)" }
      let names = unknown.map { "\"\($0)\"" }.joined(separator: ", ")
      throw StopError.missing(
        why ?? "there is no open job \(names): no manifest in the inbox, and no run that has not ended")
    }
    return status.running
  }

  private func ask(_ key: String, in inbox: OpenFolder) throws(SystemError) {
    do throws(SystemError) {
      _ = try inbox.create(file: CancelRequest.name(key), mode: 0o644)
    } catch  where error.code == EEXIST {}
  }
}
