import Darkroom
import Manifests
import Model
import System

/// Makes the lines of the log from events.
struct EventLog {
  /// The number of a manifest's problems that are logged: the first ones often cause the rest.
  static let shownProblems = 10

  var verbosity: Settings.Verbosity

  /// Whether the reader of the log also gets the path of each report, so that lines need not repeat it.
  var hasReportPaths: Bool

  /// Whether a summary at the end names the failures.
  var hasSummary = false

  /// The first new failure of each live job, with its code.
  private var newFailures: [ByteKey: String] = [:]

  init(verbosity: Settings.Verbosity, hasReportPaths: Bool) {
    (self.verbosity, self.hasReportPaths) = (verbosity, hasReportPaths)
  }

  /// Makes single lines about an event.
  private struct LineMaker {
    let event: String

    /// A line about the program, or about a job.
    func callAsFunction(
      _ level: LogLine.Level, from least: Settings.Verbosity = .normal, job: String? = nil, entry: String? = nil,
      code: String? = nil, _ message: String
    ) -> [LogLine] {
      [LogLine(level, from: least, event: event, job: job, entry: entry, code: code, message)]
    }
  }

  /// The lines for an event, including those that the verbosity omits.
  mutating func lines(for event: Event) -> [LogLine] {
    let name = event.name
    let line = LineMaker(event: name)
    switch event {
    case .watching(let inbox, let outbox, let beginning): return lines(for: beginning, inbox, outbox, line)
    case .fileIgnored(let name, let why): return line(.warning, from: .quiet, "\(name) in the inbox is ignored: \(why)")
    case .inboxUnreadable(let error): return line(.error, from: .quiet, "the inbox cannot be read: \(error)")
    case .workerLost(let job, let name, let why, _):
      return line(.warning, job: job, entry: name, "a worker was lost: \(why)")
    // What cron mails it mails once, and not each night.
    case .warning(let text, let job, let isKnown):
      return line(.warning, from: isKnown ? .normal : .quiet, job: job, "warning: \(text)")
    case .notification(let job, let result): return lines(for: result, of: job, line)
    case .programOutput(let job, let text): return line(.info, job: job, "--exec: \(text)")
    case .awaitingNotices(let text): return line(.info, text)
    case .configured: return line(.info, "the configuration was reloaded")
    case .stopping(isOutOfTime: true):
      // Otherwise a list that never ends within its time would be silent in each run of cron.
      return line(
        .warning, from: .quiet,
        "the time of --max-duration is over; running operations may finish, the next start does the rest")
    case .stopping:
      return line(.info, "stopping; running operations may finish, a second signal ends them at once")
    case .jobLeft(let job, let ended, let total):
      let done = total.map { "\(ended) of \($0) done" } ?? "accepted"
      return line(.info, job: job, "\(done); the next start goes on")
    case .jobAccepted(let job, let file): return line(.debug, from: .verbose, job: job, "planning \(file)")
    case .manifestDoubtful(let job, let all, let new): return lines(for: verbosity == .quiet ? new : all, of: job, name)
    case .jobFetching(let job, let url):
      return line(.info, job: job, "its entries are listed by \(url.shortened())")
    case .jobStarted(let job, let total, let ended, let deferred):
      let done = ended > 0 ? ", \(ended) of them already done" : ""
      return line(
        .info, job: job, total.of("entry", "entries") + done + (deferred > 0 ? ", \(deferred) deferred" : ""))
    case .entryRetry(let job, let entry, let attempts, let seconds, let mirror, let error):
      let next = mirror.map { "the next mirror is \($0.shortened())" } ?? "the next in \(seconds.shown) s"
      return line(
        .debug, from: .verbose, job: job, entry: entry,
        "try \(attempts) failed, \(next): \(error.code): \(error.message)")
    case .entryDeferred(let job, let entry, let attempts, let seconds, let isFirst, let error, _):
      let what = "deferred after try \(attempts), the next in \(seconds.shown) s"
      return line(
        isFirst ? .info : .debug, from: isFirst ? .normal : .verbose, job: job, entry: entry,
        "\(what): \(error.code): \(error.message)")
    case .host(let host, let event): return lines(for: event, of: host, line)
    case .entryEnded(let job, let row, _), .entryCancelled(let job, let row): return lines(for: row, of: job, name)
    case .jobReplaced(let job): return line(.info, job: job, "its manifest was replaced")
    case .jobCancelled(let job, let isRemoved):
      let why = isRemoved ? "its manifest was removed from the inbox" : "as requested"
      return line(.info, job: job, "cancelled, \(why); what is done stays done")
    case .paused(let cause): return line(.info, "paused: \(cause.description)")
    case .causeGone(let cause, let remaining):
      return line(
        .info, remaining.isEmpty ? "resumed: \(cause.end)" : "\(cause.end); still paused: \(remaining)")
    case .pausedByLocks(_, let names): return line(.info, "paused: \(names)")
    case .locksGone(_, let names, let remaining):
      return line(
        .info, remaining.isEmpty ? "resumed: \(names) are gone" : "\(names) are gone; still paused: \(remaining)")
    case .jobEnded(let summary): return lines(for: summary, name)
    }
  }

  private func lines(
    for beginning: Event.Beginning, _ inbox: String, _ outbox: String, _ line: LineMaker
  ) -> [LogLine] {
    let folders = "\(inbox), writing to \(outbox)"
    return switch beginning {
    case .run: line(.debug, from: .verbose, "processing " + folders)
    case .watch: line(.info, "watching " + folders)
    case .inboxReturned: line(.info, from: .quiet, "the inbox is back: watching " + folders)
    }
  }

  private func lines(for event: HostEvent, of host: String, _ line: LineMaker) -> [LogLine] {
    switch event {
    // A time that is over already, such as that of a Retry-After in the past.
    case .held(..<0.05, let why): line(.info, "\(host) has asked to wait, and the time is over: \(why)")
    case .held(let seconds, let why): line(.info, "\(host) is on hold for \(seconds.shown) s: \(why)")
    case .closed(let why):
      line(
        .warning,
        host == HostHold.thisMachine
          ? "this machine cannot ask new hosts, and their entries wait: \(why)"
          : "\(host) is failing, and its entries wait: \(why)")
    case .opened: line(.info, "\(host) answers again")
    case .givenUp(let why): line(.warning, "\(host) is given up: \(why)")
    }
  }

  private func lines(for result: NotificationResult, of job: String, _ line: LineMaker) -> [LogLine] {
    switch result {
    case .delivered: return line(.debug, from: .verbose, job: job, "its notification was delivered")
    case .failed(let why, let attempts, let seconds):
      let isFirst = attempts == 1
      return line(
        isFirst ? .info : .debug, from: isFirst ? .normal : .verbose, job: job,
        "its notification was not delivered, the next try in \(seconds.shown) s: \(why)")
    case .givenUp(let why):
      return line(.error, from: .quiet, "warning: the notification of job \(job) is given up: \(why)")
    }
  }

  private func lines(for warnings: [ManifestWarning], of job: String, _ event: String) -> [LogLine] {
    var lines = warnings.prefix(Self.shownProblems).map {
      LogLine(.warning, from: .quiet, event: event, job: job, "warning: \($0)")
    }
    let more = warnings.count - Self.shownProblems
    if more > 0 {
      lines.append(
        LogLine(.warning, from: .quiet, event: event, job: job, "and \(more.of("more warning", "more warnings"))"))
    }
    return lines
  }

  private mutating func lines(for row: ReportRow, of job: String, _ event: String) -> [LogLine] {
    if let failure = row.failure, let reason = row.reason {
      if failure.runs ?? 1 == 1, newFailures[ByteKey(job)] == nil {
        newFailures[ByteKey(job)] = "\(row.title), \(failure.code)"
      }
      return [LogLine(.warning, event: event, job: job, entry: row.title, code: failure.code, reason)]
    }
    // There may be many.
    guard verbosity == .verbose else { return [] }
    return [LogLine(.debug, from: .verbose, event: event, job: job, entry: row.title, row.state.rawValue)]
  }

  private mutating func lines(for summary: JobSummary, _ event: String) -> [LogLine] {
    func rejected(_ message: String) -> LogLine {
      LogLine(.error, from: .quiet, event: event, job: summary.job, "rejected: " + message)
    }
    var lines = summary.problems.prefix(Self.shownProblems).map(rejected)
    let more = summary.problems.count - Self.shownProblems
    if more > 0 { lines.append(rejected("and \(more.of("more problem", "more problems"))" + see(summary))) }
    if summary.isRejectedReplacement {
      lines.append(rejected("the job goes on with its earlier manifest" + see(summary)))
    }
    if let damaged = summary.damaged {
      lines.append(LogLine(.warning, from: .normal, event: event, job: summary.job, "warning: \(damaged)"))
    }
    // As with warnings of manifests, what cron mails it mails once.
    if let notPruned = summary.notPruned {
      let least = summary.isNewlyNotPruned ? Settings.Verbosity.quiet : .normal
      lines.append(LogLine(.warning, from: least, event: event, job: summary.job, "warning: \(notPruned)"))
    }
    if let remade = summary.sinceLast?.remade {
      let message = """
        \(remade.of("result was", "results were")) made again from unchanged sources: other filters, format, quality or \
        metadata than last time, --refresh, or files that were changed or missing
        """
      lines.append(LogLine(.info, from: .normal, event: event, job: summary.job, message))
    }
    if summary.pruned > 0 {
      let message = "--prune has removed \(summary.pruned.of("file", "files")) of earlier runs"
      lines.append(LogLine(.info, from: .normal, event: event, job: summary.job, message))
    }
    if summary.state != .rejected { lines.append(counts(of: summary, event)) }
    if !summary.isRejectedReplacement { newFailures[ByteKey(summary.job)] = nil }
    return lines
  }

  private func counts(of summary: JobSummary, _ event: String) -> LogLine {
    let counts = summary.counts
    let isFine = summary.state == .succeeded
    let isShownAlways = !isFine && !summary.isAccepted
    let message =
      "\(summary.state.rawValue): \(counts.filtered) filtered"
      + (counts.reused > 0 ? " (\(counts.reused) reused)" : "") + ", \(counts.failed) failed" + comparison(summary)
      + (counts.cancelled > 0 ? ", \(counts.cancelled) cancelled" : "") + " in \(summary.seconds.shown) s"
      + (isFine ? "" : see(summary))
    return LogLine(
      isShownAlways ? summary.state.level : .info, from: isShownAlways ? .quiet : .normal, event: event,
      job: summary.job,
      message)
  }

  /// The report's path, after a semicolon; empty when the next line is the path.
  private func see(_ summary: JobSummary) -> String { hasReportPaths ? "" : "; see \(summary.report)" }

  /// Describes the new failures of a job, after their number; empty for a job's first run, unless a single entry failed.
  /// A single new failure is named, unless it is the only one and has a line of its own.
  private func comparison(_ summary: JobSummary) -> String {
    // Failures that an earlier process found are not known here.
    let hasLine = summary.counts.failed == 1 && (verbosity != .quiet || hasSummary)
    let isOnly = (summary.sinceLast?.failedNew ?? summary.counts.failed) == 1
    let only = isOnly && !hasLine ? newFailures[ByteKey(summary.job)] : nil
    guard let since = summary.sinceLast else { return only.map { " (\($0))" } ?? "" }
    let failed =
      switch (since.failedNew, since.failedAgain) {
      case (_, 0): only.map { " (new: \($0))" } ?? ""
      case (0, _): " (as last time)"
      case (let new, _): " (\(new) of them new\(only.map { ": " + $0 } ?? ""))"
      }
    return failed + (since.recovered > 0 ? ", \(since.recovered) recovered" : "")
  }
}

extension JobOutcome.State {
  /// The level of the line that tells that a run has ended so.
  fileprivate var level: LogLine.Level {
    switch self {
    case .succeeded, .cancelled, .superseded: .info
    case .partial: .warning
    case .failed, .rejected: .error
    }
  }
}

extension Double {
  /// The number with one decimal digit.
  fileprivate var shown: String { formatted(.number.precision(.fractionLength(1))) }
}
