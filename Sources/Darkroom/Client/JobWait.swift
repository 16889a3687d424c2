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
        isOpen[index] = Self.isOpen(jobs[index], present, status)
        let open = status.jobs.filter { $0.job == jobs[index] }.map(\.run_id)
        try runs[index].collect(isOver: !isOpen[index], open: open, whyIgnored: status.whyIgnored(jobs[index]))
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

  /// The manifests in the inbox, with the identities of readable ones; none if this user may not read the inbox.
  private func manifests() throws(SystemError) -> [(job: String, identity: String?)] {
    do throws(SystemError) {
      let scan = try Inbox(path: configuration.inbox, extraLock: nil).scan()
      // An instance of another user may be able to read these files.
      let unknown = scan.unreadable + scan.unexamined.map(\.file)
      let jobs = unknown.compactMap { $0.text.flatMap { ManifestFileName($0)?.job } }
      return scan.manifests.map { ($0.job, $0.identity.text) } + jobs.map { ($0, nil) }
    } catch  where error.cause == .permission {
      return []
    }
  }

  private static func isOpen(
    _ job: String, _ present: [(job: String, identity: String?)], _ status: Status
  ) -> Bool {
    let stuck = Set((status.waits ?? []).filter { $0.job == job }.compactMap(\.manifest))
    let isWanted = present.contains { $0.job == job && $0.identity.map(stuck.contains) != true }
    return isWanted && status.whyIgnored(job) == nil || status.jobs_unknown != nil
      || status.jobs.contains { $0.job == job && !($0.state == "finishing" && !stuck.isEmpty) }
      || status.queued.contains { ManifestFileName($0)?.job == job }
  }
}

extension Status {
  /// Why the instance takes no manifest of a job from the inbox; nil when it may, or when none runs.
  func whyIgnored(_ job: String) -> String? {
    let file = running ? ignored.first { ManifestFileName($0.file)?.job == job } : nil
    return file.map { "\($0.file) in the inbox is ignored: \($0.why)" }
  }
}
