import Darkroom
import Foundation

/// Tells a person what happens: results (the path of each report) on standard output, everything else on standard
/// error; on a terminal one line that moves along, elsewhere log lines with their time.
final class Console {
  private let verbosity: Settings.Verbosity
  private let isJSON: Bool
  private let output: StandardOutput
  /// The line that moves along.
  let line = ProgressLine()
  private var progress: Progress?
  private var lastShown = ContinuousClock.now - .seconds(1)

  /// How far a job is.
  private struct Progress {
    let job: String
    let total: Int
    var ended: Int
    var failed = 0
    let began = ContinuousClock.now
    let endedBefore: Int
    var pause: String?
  }

  /// - Parameter isJSON: Whether standard output gets events instead of results.
  init(verbosity: Settings.Verbosity, isJSON: Bool = false, output: StandardOutput) {
    self.verbosity = verbosity
    self.output = output
    self.isJSON = isJSON
  }

  /// Tells of an event.
  func tell(_ event: Event) {
    if isJSON { result(event.json.text) }
    switch event {
    case .watching(let inbox, let outbox): log(.verbose, "watching \(inbox), writing to \(outbox)")
    case .foreignFile(let name, let why): log(.quiet, "\(name) in the inbox is left alone: \(why)")
    case .inboxUnreadable(let error): log(.quiet, "the inbox cannot be read: \(error)")
    case .warning(let text): log(.quiet, "warning: \(text)")
    case .configured: log(.normal, "the configuration was read again")
    case .stopping: log(.normal, "stopping; what runs may finish, a second signal ends it at once")
    case .jobAccepted(let job, let file): log(.verbose, "\(job): planning \(file)")
    case .jobStarted(let job, let total, let ended):
      progress = Progress(job: job, total: total, ended: ended, endedBefore: ended)
      log(.normal, "\(job): \(total.of("entry", "entries"))" + (ended > 0 ? ", \(ended) of them done before" : ""))
    case .entryRetry(let job, let name, let attempts, let seconds, let mirror, let error):
      let why = "\(error["code"]?.string ?? ""): \(error["message"]?.string ?? "")"
      let next = mirror.map { "the next mirror is \($0)" } ?? "the next in \(seconds.shown) s"
      log(.verbose, "\(job): \(name): try \(attempts) failed, \(next): \(why)")
    case .hostHeld(let host, let seconds, let why):
      log(.normal, "\(host) is left alone for \(seconds.shown) s: \(why)")
    case .entryEnded(let job, let row): tell(row, of: job)
    case .paused(let cause):
      progress?.pause = cause.description
      log(.normal, "paused: \(cause.description)")
    case .causeGone(let cause, let remaining):
      progress?.pause = remaining.isEmpty ? nil : remaining
      let gone = "\(cause.description) is gone"
      log(.normal, remaining.isEmpty ? "resumed: \(gone)" : "\(gone); still paused: \(remaining)")
    case .jobEnded(let summary): tell(summary)
    }
    show()
  }

  private func tell(_ row: JSONValue, of job: String) {
    let name = row["name"]?.string ?? ""
    progress?.ended += 1
    if let error = row["error"] {
      progress?.failed += 1
      log(.normal, "\(job): \(name): \(error["code"]?.string ?? ""): \(error["message"]?.string ?? "")")
    } else {
      log(.verbose, "\(job): \(name): \(row["state"]?.string ?? "")")
    }
  }

  private func tell(_ summary: JobSummary) {
    progress = nil
    for problem in summary.problems { log(.quiet, "\(summary.job): rejected: \(problem)") }
    if summary.state != .rejected { tellCounts(of: summary) }
    line.clear()
    if !isJSON { result(summary.report) }
  }

  private func tellCounts(of summary: JobSummary) {
    let counts = summary.counts
    let isFine = summary.state == .succeeded
    log(
      isFine ? .normal : .quiet,
      "\(summary.job): \(summary.state.rawValue): \(counts.filtered) filtered"
        + (counts.reused > 0 ? " (\(counts.reused) reused)" : "") + ", \(counts.failed) failed"
        + (counts.cancelled > 0 ? ", \(counts.cancelled) cancelled" : "")
        + " in \(summary.seconds.shown) s" + (isFine ? "" : "; see \(summary.report)"))
  }

  /// Prints a result at once. One that cannot be printed is told, and keeps nothing from being done.
  func result(_ line: String) {
    if let failure = output.tell(line) { log(.quiet, "warning: \(failure)") }
  }

  /// Tells what a command has done.
  func note(_ message: String) {
    if verbosity != .quiet { write(message.visible + "\n") }
  }

  /// Tells why the program ends and, in a second line, where to read on.
  func fail(_ message: String, hint: String? = nil) {
    line.clear()
    write("darkroom: \(message.visible)\n" + (hint.map { $0 + "\n" } ?? ""))
  }

  // MARK: Lines

  private func log(_ least: Settings.Verbosity, _ text: String) {
    guard least.rank <= verbosity.rank else { return }
    line.clear()
    write((line.isTerminal ? "" : Date().formatted(.iso8601) + " ") + text.visible + "\n")
  }

  private func show() {
    // A line of the log has taken its place: it comes back at once.
    let isDue = !line.isShown || lastShown.duration(to: .now) > .milliseconds(100)
    guard line.isTerminal, verbosity != .quiet, let progress, isDue else { return }
    lastShown = .now
    let done = progress.ended - progress.endedBefore
    let seconds = Double(progress.began.duration(to: .now).components.seconds) + 0.001
    let share = progress.total == 0 ? 100 : 100 * progress.ended / progress.total
    let text =
      "\(progress.job): \(progress.ended)/\(progress.total) (\(share) %)"
      + (progress.failed > 0 ? ", \(progress.failed) failed" : "")
      + (seconds > 1 ? ", \(Int(Double(done) / seconds))/s" : "")
      + (progress.pause.map { ", paused: \($0)" } ?? "")
    line.show(text)
  }

  /// What cannot be written to standard error cannot be told anywhere.
  private func write(_ text: String) {
    try? OpenFile.write(text, toStandard: STDERR_FILENO, named: "standard error")
  }
}

extension String {
  /// The text with control characters shown, so that a name cannot forge a line or reach the terminal.
  var visible: String { FileName(self).description }
}

extension Double {
  /// The number with one digit after the point.
  fileprivate var shown: String { formatted(.number.precision(.fractionLength(1))) }
}

extension Settings.Verbosity {
  fileprivate var rank: Int {
    switch self {
    case .quiet: 0
    case .normal: 1
    case .verbose: 2
    }
  }
}
