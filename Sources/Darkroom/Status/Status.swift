import Foundation
import Inbox
import Model

/// What the program is doing, as `status.json` has it and `darkroom status --json` prints it. Keys without a value are
/// left out; times are RFC 3339 in UTC with milliseconds.
package struct Status: Sendable, Equatable, Codable {
  package static let schemaVersion = 1

  /// Lists that an inbox can make arbitrarily long have at most so many members, and a total beside them.
  package static let listLimit = 1000

  /// So many hosts at most are named.
  package static let hostLimit = 100

  /// A job that has not ended.
  package struct Job: Sendable, Equatable, Codable {
    package let job: String
    package let run_id: String
    /// `waiting`, `planning`, `fetching`, `running`, `replaced`, `cancelling` or `finishing`.
    package var state: String
    /// Entries of the manifest; not known before it has been read.
    package var total: Int?
    package var filtered: Int?
    package var failed: Int?
    package var cancelled: Int?
    /// Entries whose download failed and that wait to be tried again.
    package var retrying: Int?
    /// Entries that wait until others of the job have succeeded, or until another of their variants is downloaded; nil without
    /// any.
    package var waiting_for_others: Int?
    /// Entries that are tried again later, because of `--retry-for`.
    package var deferred: Int?
    /// When the first of them is tried again; nil when that is now.
    package var deferred_until: String?
    /// Hosts on hold: `hostLimit` of them at most, in the order in which they are asked again.
    package var held_hosts: [HeldHost]?
    package var held_hosts_total: Int?
    package var transfers: Transfers?
    /// What keeps it from being faster now; nil when that is not known.
    package var bounded_by_now: Bottleneck?
    /// Rows a second since the job began or was resumed.
    package var rate: Double?
    /// Seconds that the rest will take at this rate.
    package var seconds_left: Double?
  }

  /// A job whose last run has ended.
  package struct Finished: Sendable, Equatable, Codable {
    package let job: String
    package var run_id: String?
    /// As in its report.
    package let state: String
    package var finished_at: String?
    package var total: Int?
    package var filtered: Int?
    package var failed: Int?
    package var cancelled: Int?
    /// The report's path.
    package let report: String
  }

  /// A manifest that waits for another of the same job, which is live or comes before it.
  package struct QueuedBehind: Sendable, Equatable, Codable {
    package let file: String
    package let job: String
    /// Whether it takes the place of that one, whose job is live, when it is planned; nil for no.
    package var replaces: Bool?
  }

  /// A host on hold.
  package struct HeldHost: Sendable, Equatable, Codable {
    package let host: String
    package let until: String
  }

  /// A host that does not answer: entries wait for it.
  package struct ClosedHost: Sendable, Equatable, Codable {
    /// `this machine` for all hosts that have never answered.
    package let host: String
    /// As in the report's `holds`.
    package let cause: String
    package let since: String
  }

  /// A host that is in use and has a rule.
  package struct RuledHost: Sendable, Equatable, Codable {
    package let host: String
    /// The patterns of its rules: that for all ports, and those for single ones.
    package let rules: [String]
  }

  /// One of the two queues.
  package struct Queue: Sendable, Equatable, Codable {
    package let limit: Int
    /// Entries whose operation runs.
    package let running: Int
    /// Entries that wait for their operation, those included that have none yet because of `--per-host`.
    package var waiting: Int
    /// How many of the downloads that run have left their places because they are slow; nil without any.
    package var slow: Int?
  }

  package struct Queues: Sendable, Equatable, Codable {
    package let suspended: Bool
    package var download: Queue
    package let filtration: Queue
  }

  /// The processes that decode pictures.
  package struct Workers: Sendable, Equatable, Codable {
    package let running: Int
    /// How many were started, and how many of them were lost, since the program began.
    package let started: Int
    package let lost: Int
    /// What the kernel holds them with: `seccomp`, `landlock`, `no-new-privs`.
    package let confinement: [String]
  }

  package struct Pause: Sendable, Equatable, Codable {
    package let cause: String
    package var lock: String?
    package var reason: String?
    package var since: String?

    /// The pause in words, e.g. `deploy.lock (until the backup is done)`.
    package var description: String { (lock ?? cause) + (reason.map { " (\($0))" } ?? "") }
  }

  /// A file or folder in the inbox that is ignored.
  package struct Ignored: Sendable, Equatable, Codable {
    package let file: String
    package let why: String
  }

  package var schema_version = Status.schemaVersion
  /// A job that can neither begin nor end now, or some of whose results cannot be delivered; it is tried again. Or a job that
  /// has ended, and whose manifest cannot be moved out of the inbox.
  package struct Wait: Sendable, Equatable, Codable {
    package let job: String
    package let why: String
    /// Set when the job's report is there, and only its manifest is in the way: the file's inode, size, mtime and ctime. Another
    /// file of its name is a new manifest.
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
  package var process: Int?
  /// What tells the process from a later one with its id, see `ProcessStart`.
  package var process_start: String?
  package var updated_at: String?
  /// Why the process cannot read the inbox; nil when it can.
  package var inbox_error: String?
  /// Jobs that have not ended: the live ones first, in the order in which they became live.
  package var jobs: [Job] = []
  /// Jobs that wait because something is in their way: `listLimit` of them at most; nil without any.
  package var waits: [Wait]?
  package var waits_total: Int?
  /// Why it cannot be told which jobs have not ended; nil when it can.
  package var jobs_unknown: String?
  /// Manifests that wait for their turn: the first `listLimit` of them.
  package var queued: [String] = []
  package var queued_total = 0
  /// Of these, those that wait for another manifest of the same job; nil without any.
  package var queued_behind: [QueuedBehind]?
  /// Of these, those that are to be cancelled; nil without any.
  package var queued_cancelled: [String]?
  /// Of these, those that somebody has open for writing, and that are not read until that has ended; nil without any.
  package var queued_open: [String]?
  package var queues: Queues?
  /// Jobs that have ended, the latest first; nil where nobody asked for them.
  package var finished: [Finished]?
  package var finished_total: Int?
  /// nil when the program itself decodes.
  package var workers: Workers?
  /// Hosts that do not answer, those that stopped first before others: `hostLimit` of them at most; nil without any.
  package var closed_hosts: [ClosedHost]?
  package var closed_hosts_total: Int?
  /// Hosts in use that have rules, `hostLimit` of them at most; nil without any.
  package var ruled_hosts: [RuledHost]?
  package var ruled_hosts_total: Int?
  package var pauses: [Pause] = []
  /// What is ignored in the inbox: `listLimit` of it at most.
  package var ignored: [Ignored] = []
  package var ignored_total = 0

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
