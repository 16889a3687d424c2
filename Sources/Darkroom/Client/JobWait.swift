import Inbox
import Manifests
import Model
import System

/// Waits until jobs have ended, in any process.
package struct JobWait {
  /// A job that has ended.
  package struct Ended: Sendable, Equatable {
    package let job: String

    /// The path of the report of its last manifest.
    package let report: String

    /// The states of the runs that ended during the wait. A run whose failures are accepted has succeeded.
    package let states: Set<JobOutcome.State>

    /// The reports of the runs among them that did not succeed, in their order, without the last manifest's.
    package let earlier: [(state: JobOutcome.State, report: String)]

    package static func == (a: Ended, b: Ended) -> Bool {
      (a.job, a.report, a.states) == (b.job, b.report, b.states) && a.earlier.map(\.report) == b.earlier.map(\.report)
    }
  }

  private let configuration: Configuration
  private let reader: StatusReader

  package init(configuration: Configuration) {
    self.configuration = configuration
    reader = StatusReader(configuration: configuration)
  }

  /// Waits for all open runs of jobs: until there is no manifest of theirs in the inbox, no instance has them, and
  /// their reports exist. A manifest that cannot be removed from the inbox after its job has ended is not waited for.
  /// - Parameters:
  ///   - seconds: The timeout. Default: nil, none.
  ///   - isAlone: Called once when there are open jobs and no instance is running, with the reason why it is unknown which have not
  ///     ended; nil when it is known.
  ///   - observe: Called several times per second with the status and the names of the jobs that have not ended.
  /// - Returns: The ended jobs in the given order, and the names of the others.
  /// - Throws: `StopError.missing` when there is no such job; `SystemError`.
  package func wait(
    for jobs: [String], seconds: Double? = nil, isAlone: (_ unknown: String?) -> Void,
    observe: (_ status: Status, _ open: [String]) -> Void = { _, _ in }
  ) throws -> (ended: [Ended], open: [String]) {
    let jobs = jobs.map(PortableName.job)
    let deadline = seconds.map { Clock.monotonicSeconds + $0 }
    let watch = FolderWatch(folder: configuration.inbox)
    let mailbox = try Mailbox<Never>()
    // Ended runs are read before the open ones, so that no run is missed.
    var runs = try jobs.map { try JobRuns($0, configuration) }
    var isOpen = jobs.map { _ in true }
    var hasTold = false
    while true {
      _ = watch.notices()
      let present = try manifests()
      let status = try reader.read(countsRows: false)
      for index in jobs.indices where isOpen[index] {
        isOpen[index] =
          Self.isOpen(jobs[index], present, status)
          || status.hasUnlistedNames && !runs[index].hasEnded
        let open = status.jobs.filter { $0.job.isIdentical(to: jobs[index]) }.map(\.run_id)
        try runs[index].collect(isOver: !isOpen[index], open: open, whyIgnored: status.whyIgnored(job: jobs[index]))
      }
      let left = jobs.indices.filter { isOpen[$0] }
      if left.isEmpty || deadline.map({ Clock.monotonicSeconds >= $0 }) == true {
        return (jobs.indices.filter { !isOpen[$0] }.map { runs[$0].ended }, left.map { jobs[$0] })
      }
      observe(status, left.map { jobs[$0] })
      if !status.running, !hasTold {
        isAlone(status.jobs_unknown)
        hasTold = true
      }
      let rest = deadline.map { max(0, $0 - Clock.monotonicSeconds) } ?? .infinity
      mailbox.wait(alongside: watch.descriptor, seconds: min(0.2, configuration.pollInterval, rest))
    }
  }

  /// A manifest in the inbox; `identity` is nil for one that this user may not read.
  private typealias Present = (job: String, file: String, identity: String?)

  /// The manifests in the inbox, with the identities of readable ones; none if this user may not read the inbox, or there is no inbox.
  private func manifests() throws(SystemError) -> [Present] {
    do throws(SystemError) {
      let scan = try Inbox(path: configuration.inbox, extraLock: nil).scan()
      // An instance of another user may be able to read these files.
      let unknown = scan.unreadable + scan.unexamined.map(\.file)
      let unreadable = unknown.compactMap(\.text).compactMap { file in
        ManifestFileName(file).map { Present(job: $0.job, file: file, identity: nil) }
      }
      return scan.manifests.map { ($0.job, $0.file, $0.identity.text) } + unreadable
    } catch  where [.permission, .missing].contains(error.cause) {
      return []
    }
  }

  private static func isOpen(
    _ job: String, _ present: [Present], _ status: Status
  ) -> Bool {
    let stuck = Set((status.waits ?? []).filter { $0.job.isIdentical(to: job) }.compactMap(\.manifest))
    let isWanted = present.contains {
      $0.job.isIdentical(to: job) && $0.identity.map(stuck.contains) != true && status.whyIgnored(file: $0.file) == nil
    }
    return isWanted || status.jobs_unknown != nil
      || status.jobs.contains { $0.job.isIdentical(to: job) && !($0.state == "finishing" && !stuck.isEmpty) }
      || status.isQueued(job)
  }
}

extension Status {
  /// Whether manifests that were named to the instance are queued, and not all are listed.
  var hasUnlistedNames: Bool { running && queued_named != nil && queued_total > queued.count }

  /// Whether a manifest of a job is queued, as far as the list tells.
  func isQueued(_ job: String) -> Bool {
    queued.contains { ManifestFileName(Folder.name(of: $0))?.job.isIdentical(to: job) == true }
  }

  /// Why the instance does not take a file from the inbox; nil when it may, or when none runs.
  func whyIgnored(file: String) -> String? { whyIgnored { $0.file.isIdentical(to: file) } }

  /// The same for a manifest of a job.
  func whyIgnored(job: String) -> String? { whyIgnored { ManifestFileName($0.file)?.job.isIdentical(to: job) == true } }

  private func whyIgnored(where isIncluded: (Ignored) -> Bool) -> String? {
    guard running, let file = ignored.first(where: isIncluded) else { return nil }
    return "\(file.file) in the inbox is ignored: \(file.why)"
  }
}
