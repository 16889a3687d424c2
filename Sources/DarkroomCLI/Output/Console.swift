import Darkroom
import Foundation
import JSON
import Manifests
import Model
import System

/// Prints results (the path of each report, or events as JSON) on standard output, and the log on standard error: on a
/// terminal with a progress display below it, elsewhere with the time on each line.
final class Console {
  private let verbosity: Settings.Verbosity
  private let isJSON: Bool
  private let output: StandardOutput

  /// Standard error, if it is a terminal.
  let screen: TerminalScreen
  private let display: LiveDisplay<StatusProgress>

  /// Whether results go to the terminal that has the display.
  private let sharesTerminal: Bool

  /// Whether results go where the log goes, which then need not repeat them.
  private let sharesLog: Bool

  /// The summary to print at the end; nil without one.
  private var closing: ClosingSummary?

  /// The first new failure of each live job, with its code.
  private var newFailures: [String: String] = [:]

  /// The number of a manifest's problems that are logged: the first ones often cause the rest.
  static let shownProblems = 10

  /// - Parameters:
  ///   - isJSON: Whether standard output gets events instead of results.
  ///   - errors: Standard error.
  init(verbosity: Settings.Verbosity, isJSON: Bool = false, output: StandardOutput, errors: Terminal) {
    self.verbosity = verbosity
    self.output = output
    self.isJSON = isJSON
    screen = TerminalScreen(errors)
    sharesTerminal = isatty(output.descriptor) == 1
    sharesLog = !isJSON && Self.isSameFile(output.descriptor, errors.descriptor)
    display = LiveDisplay(StatusProgress(), on: screen, isWanted: verbosity != .quiet)
  }

  func handle(_ event: Event) {
    if isJSON { result(event.json.text) }
    closing?.add(event)
    switch event {
    case .watching(let inbox, let outbox, let beginning):
      let folders = "\(inbox), writing to \(outbox)"
      switch beginning {
      case .run: log(.verbose, "processing " + folders)
      case .watch: log(.normal, "watching " + folders)
      case .inboxReturned: log(.quiet, "the inbox is back: watching " + folders)
      }
    case .fileIgnored(let name, let why): log(.quiet, "\(name) in the inbox is ignored: \(why)")
    case .inboxUnreadable(let error): log(.quiet, "the inbox cannot be read: \(error)")
    case .workerLost(let job, let name, let why, _):
      let entry = [job, name].compactMap { $0 }.joined(separator: "/")
      log(.normal, "\(entry.isEmpty ? "" : entry + ": ")a worker was lost: \(why)")
    case .warning(let text): log(.quiet, "warning: \(text)")
    case .configured: log(.normal, "the configuration was reloaded")
    case .stopping(isOutOfTime: true):
      // Otherwise a list that never ends within its time would be silent in each run of cron.
      log(.quiet, "the time of --max-duration is over; running operations may finish, the next start does the rest")
    case .stopping: log(.normal, "stopping; running operations may finish, a second signal ends them at once")
    case .jobLeft(let job, let ended, let total):
      let done = total.map { "\(ended) of \($0) done" } ?? "accepted"
      log(.normal, "\(job): \(done); the next start goes on")
    case .jobAccepted(let job, let file): log(.verbose, "\(job): planning \(file)")
    // What cron mails it mails once, and not each night.
    case .manifestDoubtful(let job, let all, let new): log(verbosity == .quiet ? new : all, of: job)
    case .jobFetching(let job, let url): log(.normal, "\(job): its entries are listed by \(url)")
    case .jobStarted(let job, let total, let ended, let deferred):
      let done = ended > 0 ? ", \(ended) of them already done" : ""
      log(
        .normal, "\(job): \(total.of("entry", "entries"))" + done + (deferred > 0 ? ", \(deferred) deferred" : ""))
    case .entryRetry(let job, let name, let attempts, let seconds, let mirror, let error):
      let why = "\(error.code): \(error.message)"
      let next = mirror.map { "the next mirror is \($0)" } ?? "the next in \(seconds.shown) s"
      log(.verbose, "\(job): \(name): try \(attempts) failed, \(next): \(why)")
    case .entryDeferred(let job, let name, let attempts, let seconds, let isFirst, let error, _):
      let what = "deferred after try \(attempts), the next in \(seconds.shown) s"
      log(isFirst ? .normal : .verbose, "\(job): \(name): \(what): \(error.code): \(error.message)")
    case .hostHeld(let host, let seconds, let why):
      log(.normal, "\(host) is on hold for \(seconds.shown) s: \(why)")
    case .hostClosed("this machine", let why):
      log(.normal, "this machine cannot ask new hosts, and their entries wait: \(why)")
    case .hostClosed(let host, let why): log(.normal, "\(host) does not answer, and its entries wait: \(why)")
    case .hostOpened(let host): log(.normal, "\(host) answers again")
    case .hostGivenUp(let host, let why): log(.normal, "\(host) is given up: \(why)")
    case .entryEnded(let job, let row, _), .entryCancelled(let job, let row): log(row, of: job)
    case .jobReplaced(let job): log(.normal, "\(job): its manifest was replaced")
    case .jobCancelled(let job, let isRemoved):
      let why = isRemoved ? "its manifest was removed from the inbox" : "as requested"
      log(.normal, "\(job): cancelled, \(why); what is done stays done")
    case .paused(let cause): log(.normal, "paused: \(cause.description)")
    case .causeGone(let cause, let remaining):
      log(.normal, remaining.isEmpty ? "resumed: \(cause.end)" : "\(cause.end); still paused: \(remaining)")
    case .jobEnded(let summary): end(summary)
    }
  }

  /// Shows the progress of the live jobs.
  func show(_ status: Status) { display.update { $0.update(status) } }

  private func log(_ warnings: [ManifestWarning], of job: String) {
    for warning in warnings.prefix(Self.shownProblems) { log(.quiet, "\(job): warning: \(warning)") }
    let more = warnings.count - Self.shownProblems
    if more > 0 { log(.quiet, "\(job): and \(more.of("more warning", "more warnings"))") }
  }

  private func log(_ row: ReportRow, of job: String) {
    if let failure = row.failure {
      if failure.runs ?? 1 == 1, newFailures[job] == nil { newFailures[job] = "\(row.title), \(failure.code)" }
      log(.normal, "\(job): \(row.title): \(failure.code): \(failure.message)")
    } else {
      log(.verbose, "\(job): \(row.title): \(row.state.rawValue)")
    }
  }

  private func end(_ summary: JobSummary) {
    for problem in summary.problems.prefix(Self.shownProblems) { log(.quiet, "\(summary.job): rejected: \(problem)") }
    let more = summary.problems.count - Self.shownProblems
    if more > 0 {
      log(.quiet, "\(summary.job): rejected: and \(more.of("more problem", "more problems"))" + see(summary))
    }
    if summary.isRejectedReplacement {
      log(.quiet, "\(summary.job): rejected: the job goes on with its earlier manifest" + see(summary))
    }
    if summary.state != .rejected { logCounts(of: summary) }
    if summary.isLast { newFailures[summary.job] = nil }
    if !isJSON { result(summary.report) }
  }

  private func logCounts(of summary: JobSummary) {
    let counts = summary.counts
    let isFine = summary.state == .succeeded
    log(
      isFine || summary.isAccepted ? .normal : .quiet,
      "\(summary.job): \(summary.state.rawValue): \(counts.filtered) filtered"
        + (counts.reused > 0 ? " (\(counts.reused) reused)" : "") + ", \(counts.failed) failed"
        + comparison(summary)
        + (counts.cancelled > 0 ? ", \(counts.cancelled) cancelled" : "")
        + " in \(summary.seconds.shown) s" + (isFine ? "" : see(summary)))
  }

  /// The report's path, after a semicolon; empty when the next line is the path.
  private func see(_ summary: JobSummary) -> String { sharesLog ? "" : "; see \(summary.report)" }

  private static func isSameFile(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (stat(), stat())
    guard fstat(one, &first) == 0, fstat(other, &second) == 0 else { return false }
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
  }

  /// Describes the new failures of a job, after their number; empty for a job's first run, unless a single entry failed.
  /// A single new failure is named, unless it is the only one and has a line of its own.
  private func comparison(_ summary: JobSummary) -> String {
    // Failures that an earlier process found are not known here.
    let hasLine = summary.counts.failed == 1 && (verbosity != .quiet || closing != nil)
    let isOnly = (summary.sinceLast?.failedNew ?? summary.counts.failed) == 1
    let only = isOnly && !hasLine ? newFailures[summary.job] : nil
    guard let since = summary.sinceLast else { return only.map { " (\($0))" } ?? "" }
    let failed =
      switch (since.failedNew, since.failedAgain) {
      case (_, 0): only.map { " (new: \($0))" } ?? ""
      case (0, _): " (as last time)"
      case (let new, _): " (\(new) of them new\(only.map { ": " + $0 } ?? ""))"
      }
    return failed + (since.recovered > 0 ? ", \(since.recovered) recovered" : "")
  }

  /// Prints a result at once. When it cannot be printed, a warning is logged and the program goes on.
  func result(_ line: String) {
    let failure = sharesTerminal ? screen.withoutLines { output.printNow(line) } : output.printNow(line)
    if let failure { log(.quiet, "warning: \(failure)") }
  }

  /// Collects the outcomes of the jobs, for `printSummary`.
  func beginSummary() { closing = ClosingSummary() }

  /// Prints the outcomes of the jobs and the remedies, see `ClosingSummary`.
  func printSummary(folders options: [String]) {
    guard let closing else { return }
    let isForPerson = screen.terminal.isTerminal && verbosity != .quiet
    // Without a terminal each failure has its line above, unless quiet.
    let hasExamples = isForPerson || verbosity == .quiet
    for line in closing.lines(folders: options, isForPerson: isForPerson, hasExamples: hasExamples) {
      log(.quiet, line.text, wraps: !line.isForCopying)
    }
  }

  /// Prints what a command has done, unless quiet.
  func note(_ message: String) {
    if verbosity != .quiet { write(message.visible + "\n") }
  }

  func warn(_ message: String) { write("darkroom: " + message.visible + "\n") }

  /// Prints why the program ends and, on a second line, a hint.
  func fail(_ message: String, hint: String? = nil) {
    screen.clear()
    write("darkroom: \(message.visible)\n" + (hint.map { $0 + "\n" } ?? ""))
  }

  // MARK: Lines

  /// - Parameter wraps: Whether lines are wrapped between words on a terminal. Default: yes.
  private func log(_ least: Settings.Verbosity, _ text: String, wraps: Bool = true) {
    guard least.rawValue <= verbosity.rawValue else { return }
    let line =
      if !screen.terminal.isTerminal { Date().formatted(.iso8601) + " " + text.visible } else if wraps {
        TextLayout.folded(text.visible, columns: screen.terminal.size.columns)
      } else { text.visible }
    write(line + "\n")
  }

  private func write(_ text: String) { screen.write(above: text) }
}

extension Double {
  /// The number with one decimal digit.
  fileprivate var shown: String { formatted(.number.precision(.fractionLength(1))) }
}
