import Foundation
import Manifests
import System

/// Waits until a job has ended, whichever process works on it.
package struct JobWait {
  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// Waits for a job: until no manifest of its name lies in the inbox, no instance has it, and its report is there.
  /// - Returns: The report's path and state; a job whose failures are accepted has succeeded.
  /// - Throws: `StopError.missing` when there is no such job; `SystemError`.
  package func wait(for job: String) throws -> (report: String, state: JobOutcome.State) {
    let job = PortableName.replacing(job)
    let folder = OutboxFolder(path: configuration.outbox).job(job)
    let watch = FolderWatch(folder: configuration.inbox)
    let mailbox = try Mailbox<Never>()
    while true {
      _ = watch.notices()
      let report = try ended(job, folder)
      if let report { return (folder.report, report) }
      mailbox.wait(alongside: watch.descriptor, seconds: min(0.2, configuration.pollInterval))
    }
  }

  /// The state of the job's report, if it has ended.
  private func ended(_ job: String, _ folder: JobFolder) throws -> JobOutcome.State? {
    let scan = try Inbox(path: configuration.inbox, extraLock: nil).scan()
    if scan.manifests.contains(where: { $0.job == job }) { return nil }
    let status = try StatusReader(configuration: configuration).read()
    if status.jobs_unknown != nil || status.jobs.contains(where: { $0.job == job }) { return nil }
    if status.queued.contains(where: { ManifestFileName($0)?.job == job }) { return nil }
    do {
      guard let head = try ReportHead(of: folder.report), let state = head.state else {
        throw StopError.missing("\(folder.report): this is no report")
      }
      let isAccepted = head.counts.map {
        configuration.acceptFailures?.accepts(state, $0, sinceLast: head.sinceLast) == true
      }
      return isAccepted == true ? .succeeded : state
    } catch let error as SystemError where error.code == ENOENT || error.code == ENOTDIR {
      throw StopError.missing("there is no job \"\(job)\": no manifest in the inbox, and no report in the outbox")
    }
  }
}
