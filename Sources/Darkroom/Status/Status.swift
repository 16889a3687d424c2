import Foundation
import Inbox
import Model

/// The state of the program, as in `status.json` and in the output of `darkroom status --json`. Keys without a value
/// are left out. Times are RFC 3339 in UTC with milliseconds.
package struct Status: Sendable, Equatable, Codable {
  package static let schemaVersion = 1

  /// The most members of lists that depend on the inbox. Each has a total beside it.
  package static let listLimit = 1000

  /// The most hosts that are listed.
  package static let hostLimit = 100

  /// The most operations that are listed.
  package static let operationLimit = 100

  /// A job that has not ended.
  package struct Job: Sendable, Equatable, Codable {
    static let states = ["waiting", "planning", "fetching", "running", "replaced", "cancelling", "finishing"]

    package let job: String
    package let run_id: String
    /// One of `states`.
    package var state: String
    /// The entries of the manifest; nil before it has been read.
    package var total: Int?
    package var filtered: Int?
    package var failed: Int?
    package var cancelled: Int?
    /// Entries whose download failed and that wait to be tried again.
    package var retrying: Int?
    /// Entries that wait until others of the job have succeeded, or another of their variants is downloaded; nil when
    /// there are none.
    package var waiting_for_others: Int?
    /// Entries that are deferred because of `--retry-for`.
    package var deferred: Int?
    /// When the first of them is tried again; nil when it is due.
    package var deferred_until: String?
    /// Hosts on hold, at most `hostLimit`, in the order in which their holds end.
    package var held_hosts: [HeldHost]?
    package var held_hosts_total: Int?
    package var transfers: Transfers?
    /// The current bottleneck; nil when it is not known.
    package var bounded_by_now: Bottleneck?
    /// Rows per second since the job began or was resumed.
    package var rate: Double?
    /// The remaining time in seconds at this rate.
    package var seconds_left: Double?

    /// The number of rows; nil while it is not known.
    package var ended: Int? {
      guard let filtered, let failed, let cancelled else { return nil }
      return filtered + failed + cancelled
    }
  }

  /// A job whose last run has ended.
  package struct Finished: Sendable, Equatable, Codable {
    package let job: String
    package var run_id: String?
    /// The state in its report.
    package let state: String
    package var finished_at: String?
    package var total: Int?
    package var filtered: Int?
    package var failed: Int?
    package var cancelled: Int?
    /// The report's path.
    package let report: String
  }

  /// A manifest that waits for another one of the same job, which is live or earlier in the queue.
  package struct QueuedBehind: Sendable, Equatable, Codable {
    package let file: String
    package let job: String
    /// Whether it will replace that one, whose job is live; nil for no.
    package var replaces: Bool?
  }

  /// A host on hold.
  package struct HeldHost: Sendable, Equatable, Codable {
    package let host: String
    package let until: String
  }

  /// A failing host, for which entries wait.
  package struct ClosedHost: Sendable, Equatable, Codable {
    /// NAME or NAME:PORT, or `HostHold.thisMachine`.
    package let host: String
    /// As in the report's `holds`.
    package let cause: String
    package let since: String
  }

  /// A host that is in use and has a rule.
  package struct RuledHost: Sendable, Equatable, Codable {
    package let host: String
    /// The patterns of its rules: the one for all ports, and those for single ports.
    package let rules: [String]
  }

  /// One of the two queues.
  package struct Queue: Sendable, Equatable, Codable {
    package let limit: Int
    /// Entries whose operation runs.
    package let running: Int
    /// Entries that wait for their operation, including those that have none yet because of `--per-host`.
    package var waiting: Int
    /// The number of slow downloads, which have given up their slots; nil when there are none.
    package var slow: Int?
  }

  package struct Queues: Sendable, Equatable, Codable {
    package let suspended: Bool
    package var download: Queue
    package let filtration: Queue
  }

  /// What follows the ends of runs and is not done yet.
  package struct Notices: Sendable, Equatable, Codable {
    /// The runs for which the program of `--exec` has not ended; nil for none.
    package var exec: Int?
    /// The notifications that the receiver of `--notify` has not got; nil for none.
    package var notify: Int?
  }

  /// An operation that runs.
  package struct Operation: Sendable, Equatable, Codable {
    package let job: String
    /// As in the report's rows.
    package let name: String
    package var variant: String?
    /// `downloading` or `filtering`.
    package let state: String
    package let since: String
  }

  /// The processes that decode pictures.
  package struct Workers: Sendable, Equatable, Codable {
    package let running: Int
    /// The numbers of workers that were started and lost since the program began.
    package let started: Int
    package let lost: Int
    /// The measures that confine them: `seccomp`, `landlock`, `no-new-privs`.
    package let confinement: [String]
  }

  package struct Pause: Sendable, Equatable, Codable {
    package let cause: String
    package var lock: String?
    package var reason: String?
    package var since: String?

    /// A description of the pause, such as `deploy.lock (until the backup is done)`.
    package var description: String { (lock ?? cause) + (reason.map { " (\($0))" } ?? "") }
  }

  /// A file or folder in the inbox that is ignored.
  package struct Ignored: Sendable, Equatable, Codable {
    package let file: String
    package let why: String
  }

  package var schema_version = Status.schemaVersion
  /// A job that can neither begin nor end now, or whose results cannot all be delivered, and that is tried again; or an
  /// ended job whose manifest cannot be moved out of the inbox.
  package struct Wait: Sendable, Equatable, Codable {
    package let job: String
    package let why: String
    /// The inode, size, mtime and ctime of the manifest. Set when the job's report was delivered, and only its manifest
    /// cannot be moved. A file of its name with another identity is a new manifest.
    package var manifest: String?
    /// The options that it was accepted with and that are missing now; nil when it waits for something else.
    package var missing_options: [String]?

    init(job: String, why: String, manifest: String? = nil) {
      (self.job, self.why, self.manifest) = (job, why, manifest)
    }

    init(job: String, missingOptions: [String]) {
      self.init(job: job, why: "it was accepted with \(missingOptions.joined(separator: ", "))")
      missing_options = missingOptions
    }
  }

  package let version: String
  package let inbox: String
  package let outbox: String
  package var running = false
  /// Whether the process is ending: no operation begins any more; nil for no.
  package var stopping: Bool?
  /// Whether the process ended because it was paused for longer than `--lock-wait`; nil for no.
  package var lock_wait_over: Bool?
  package var process: Int?
  /// Distinguishes the process from a later one with its id, see `ProcessStart`.
  package var process_start: String?
  package var updated_at: String?
  /// Why the process cannot read the inbox; nil when it can.
  package var inbox_error: String?
  /// Jobs that have not ended. Live ones come first, in the order in which they became live.
  package var jobs: [Job] = []
  /// Jobs that wait because of an error, at most `listLimit`; nil when there are none.
  package var waits: [Wait]?
  package var waits_total: Int?
  /// Why it is unknown which jobs have not ended; nil when it is known.
  package var jobs_unknown: String?
  /// The manifests that wait to become live, at most `listLimit`.
  package var queued: [String] = []
  package var queued_total = 0
  /// The queued manifests that the process does not take and that wait for the next start; nil when there are none.
  package var queued_next_start: [String]?
  /// The queued manifests that wait for another one of the same job; nil when there are none.
  package var queued_behind: [QueuedBehind]?
  /// The queued manifests that will be cancelled; nil when there are none.
  package var queued_cancelled: [String]?
  /// How many of the queued manifests were named as arguments; nil for none, and without an instance.
  package var queued_named: Int?
  /// The queued manifests that are not read yet because a process has them open for writing; nil when there are none.
  package var queued_open: [String]?
  package var queues: Queues?
  /// The operations that run, those that began first, at most `operationLimit`; nil when there are none.
  package var operations: [Operation]?
  package var operations_total: Int?
  /// nil when nothing is left.
  package var notices: Notices?
  /// Jobs that have ended, the latest first; nil when they were not requested.
  package var finished: [Finished]?
  package var finished_total: Int?
  /// nil when this process decodes.
  package var workers: Workers?
  /// Failing hosts, in the order in which they were closed, at most `hostLimit`; nil when there are none.
  package var closed_hosts: [ClosedHost]?
  package var closed_hosts_total: Int?
  /// Hosts in use that have rules, at most `hostLimit`; nil when there are none.
  package var ruled_hosts: [RuledHost]?
  package var ruled_hosts_total: Int?
  /// What pauses the queues, at most `listLimit`: what began first.
  package var pauses: [Pause] = []
  /// nil when nothing does.
  package var pauses_total: Int?
  /// Ignored files and folders in the inbox, at most `listLimit`.
  package var ignored: [Ignored] = []
  package var ignored_total = 0

  /// The pauses in words, and the number of those that are not listed.
  var pausedText: String {
    let more = (pauses_total ?? 0) - pauses.count
    return pauses.map(\.description).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  /// The status as JSON on one line.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension Status.Ignored {
  init(_ foreign: InboxScan.Ignored) { self.init(file: foreign.file.description, why: foreign.why) }
}
