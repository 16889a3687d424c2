import JSON
import Model
import System

/// The outbox's page: the jobs, and the ignored files of the inbox. It contains no URLs, since others may read it.
package struct OutboxPage: Sendable, Equatable {
  /// The most jobs on the page.
  package static let limit = 1000

  /// A job, live or ended.
  package struct Job: Sendable, Equatable {
    package let name: String
    package let runID: String
    /// The state as in `status` for a live job, as in the report for an ended one.
    package var state: String
    package var started: String?
    var finished: String?
    var counts: JobOutcome.Counts?
    package var ended: Int?
    package var total: Int?
    package var failed: Int?
    /// The number of warnings about its manifest.
    var warnings = 0
    /// Rows per second.
    package var rate: Double?
    /// The remaining time in seconds.
    package var remaining: Double?
    /// The path of the job's page, relative to the outbox; nil when there is none.
    var page: String?
    /// The path of the job's report, relative to the outbox; nil when there is none.
    var report: String?
    /// The reasons why its manifest was rejected.
    var problems: [Problem] = []

    package init(
      name: String, runID: String, state: String, started: String? = nil, finished: String? = nil,
      counts: JobOutcome.Counts? = nil, ended: Int? = nil, total: Int? = nil, failed: Int? = nil, warnings: Int = 0,
      rate: Double? = nil, remaining: Double? = nil, page: String? = nil, report: String? = nil,
      problems: [Problem] = []
    ) {
      self.name = name
      self.runID = runID
      self.state = state
      self.started = started
      self.finished = finished
      self.counts = counts
      self.ended = ended
      self.total = total
      self.failed = failed
      self.warnings = warnings
      self.rate = rate
      self.remaining = remaining
      self.page = page
      self.report = report
      self.problems = problems
    }

    var json: JSONValue {
      .object([
        "name": .string(name), "run_id": .string(runID), "state": .string(state),
        "started_at": started.map { .string($0) },
        "finished_at": finished.map { .string($0) }, "counts": counts?.json, "ended": ended.map { .integer($0) },
        "total": total.map { .integer($0) }, "failed": failed.map { .integer($0) },
        "warnings": warnings > 0 ? .integer(warnings) : nil, "rate": rate.map { .number($0) },
        "remaining_s": remaining.map { .number($0) }, "page": page.map { .string(PageText.link($0)) },
        "report": report.map { .string(PageText.link($0)) },
        "problems": problems.isEmpty ? nil : .array(problems.prefix(OutboxPage.problemLimit).map(\.json)),
      ])
    }
  }

  /// A reason why a manifest was rejected.
  package struct Problem: Sendable, Equatable {
    let code: String
    let message: String
    var location: String?

    fileprivate var json: JSONValue {
      .object([
        "code": .string(code), "message": .string(PageText.withoutURLs(message)),
        "where": location.flatMap { $0.isEmpty ? nil : .string(PageText.withoutURLs($0)) },
      ])
    }
  }

  /// A file or folder in the inbox that is ignored.
  package struct Ignored: Sendable, Equatable {
    package let file: String
    package let why: String

    package init(file: String, why: String) {
      self.file = file
      self.why = why
    }
  }

  /// The most problems of a job on the page.
  static let problemLimit = 20

  package var isRunning = true

  /// Whether there are live runs: the page is then written at intervals.
  package var hasRuns = false
  package var paused: String?

  /// The jobs that have not ended.
  package var live: [Job] = []
  package var ignored: [Ignored] = []

  package init() {}

  package var inbox: String?

  /// Why the inbox cannot be read; nil when it can.
  package var inboxError: String?

  /// Writes the page's data.
  /// - Parameters:
  ///   - ended: The ended jobs to show, as JSON, the latest first.
  ///   - hasOlder: Whether there are more.
  ///   - boot: The id of the machine's boot.
  ///   - checkedTo: The name of the job up to which pages were checked for completeness; nil when all were.
  ///   - now: The current time.
  func write(
    to page: PageFile, ended: [String], hasOlder: Bool, boot: String, checkedTo: String?, now: JSONValue
  ) throws(SystemError) {
    let head = JSONValue.object([
      "page": .string("outbox"), "version": .integer(1), "written_at": now,
      "stale_after_s": hasRuns ? .number(GalleryPages.staleAfter * GalleryPages.heartbeat) : nil,
      "instance": .object([
        "is_running": .bool(isRunning), "boot_id": .string(boot), "checked_to": checkedTo.map { .string($0) },
      ]),
      "paused": paused.map { .string(PageText.withoutURLs($0)) }, "has_older": .bool(hasOlder),
      "ignored": .array(
        ignored.map { .object(["file": .string($0.file), "why": .string(PageText.withoutURLs($0.why))]) }),
      "inbox": inbox.map { .string($0) }, "inbox_error": inboxError.map { .string(PageText.withoutURLs($0)) },
    ])
    try page.append(head.text.dropLast() + #","jobs":["#)
    var separator = ""
    for job in live.prefix(Self.limit).map(\.json.text) + ended.prefix(max(0, Self.limit - live.count)) {
      try page.append(separator)
      try page.append(job)
      separator = ","
    }
    try page.append("]}")
  }
}
