import Darkroom
import Foundation
import JSON
import Manifests
import Model
import System

/// Prints results (the path of each report, or events as JSON) on standard output, and the log on standard error: on a
/// terminal with a progress display below it, elsewhere with the time on each line.
final class Console {
  private var verbosity: Settings.Verbosity
  private var isJSON: Bool
  private let output: StandardOutput

  /// Standard error, if it is a terminal.
  let screen: TerminalScreen
  private let display: LiveDisplay<StatusProgress>

  /// Whether results go to the terminal that has the display.
  private let sharesTerminal: Bool

  private var log: EventLog
  private var form: LogForm

  /// The summary to print at the end; nil without one.
  private var closing: ClosingSummary?

  /// - Parameters:
  ///   - isJSON: Whether standard output gets events instead of results.
  ///   - errors: Standard error.
  ///   - format: The form of the log's lines. Default: text.
  init(
    verbosity: Settings.Verbosity, isJSON: Bool = false, output: StandardOutput, errors: Terminal,
    format: LogFormat = .text
  ) {
    self.verbosity = verbosity
    self.output = output
    self.isJSON = isJSON
    screen = TerminalScreen(errors)
    sharesTerminal = isatty(output.descriptor) == 1
    let hasReportPaths = !isJSON && Self.isSameFile(output.descriptor, errors.descriptor)
    log = EventLog(verbosity: verbosity, hasReportPaths: hasReportPaths)
    form = LogForm(format, on: errors)
    display = LiveDisplay(StatusProgress(), on: screen, isWanted: verbosity != .quiet && format == .text)
  }

  /// Prints what follows as other settings say. Call it where events are handled.
  func configure(_ settings: Settings) {
    (verbosity, isJSON) = (settings.verbosity, settings.isJSON)
    log.verbosity = verbosity
    log.hasReportPaths = !isJSON && Self.isSameFile(output.descriptor, screen.terminal.descriptor)
    form = LogForm(settings.logFormat, on: screen.terminal)
    display.isWanted = verbosity != .quiet && form.format == .text
  }

  func handle(_ event: Event) {
    if isJSON { result(event.json.text) }
    closing?.add(event)
    for line in log.lines(for: event) { write(line) }
    if case .jobEnded(let summary) = event, !isJSON { result(summary.report) }
  }

  /// How often there should be a new status, in seconds: seldom where nothing is drawn, since each is also written to the outbox.
  var statusInterval: Double { display.isEnabled ? 0.2 : 1 }

  /// Shows the progress of the live jobs.
  func show(_ status: Status) { display.update { $0.update(status) } }

  private static func isSameFile(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (stat(), stat())
    guard fstat(one, &first) == 0, fstat(other, &second) == 0 else { return false }
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
  }

  /// Prints a result at once. When it cannot be printed, a warning is logged and the program goes on.
  func result(_ line: String) {
    let failure = sharesTerminal ? screen.withoutLines { output.printNow(line) } : output.printNow(line)
    if let failure { write(LogLine(.warning, from: .quiet, "warning: \(failure)")) }
  }

  /// Collects the outcomes of the jobs, for `printSummary`.
  /// - Parameter areShards: Whether they are shards of one job. Default: no.
  func beginSummary(areShards: Bool = false) {
    closing = ClosingSummary(areShards: areShards)
    log.hasSummary = true
  }

  /// Prints the outcomes of the jobs and the remedies, see `ClosingSummary`.
  func printSummary(folders options: [String] = []) {
    guard let closing else { return }
    let isForPerson = screen.terminal.isTerminal && verbosity != .quiet && form.format == .text
    // Without a terminal each failure has its line above, unless quiet.
    let hasExamples = isForPerson || verbosity == .quiet
    for line in closing.lines(folders: options, isForPerson: isForPerson, hasExamples: hasExamples) {
      var log = LogLine(.info, from: .quiet, line.text)
      log.wraps = !line.isForCopying
      write(log)
    }
  }

  /// Prints what a command has done, unless quiet.
  func note(_ message: String) {
    if verbosity == .quiet { return }
    if form.isPlain { write(message.visible + "\n") } else { write(LogLine(.info, message)) }
  }

  func warn(_ message: String) { write(form.text(ofProgram: LogLine(.warning, from: .quiet, message))) }

  /// Prints why the program ends and, on a second line, a hint.
  func fail(_ message: String, hint: String? = nil) {
    screen.clear()
    write(form.text(ofProgram: LogLine(.error, from: .quiet, message)))
    if form.isPlain { return write(hint.map { $0 + "\n" } ?? "") }
    for line in hint?.split(separator: "\n") ?? [] { write(form.text(of: LogLine(.error, from: .quiet, String(line)))) }
  }

  // MARK: Lines

  private func write(_ line: LogLine) {
    guard line.verbosity.rawValue <= verbosity.rawValue else { return }
    write(form.text(of: line))
  }

  private func write(_ text: String) { screen.write(above: text) }
}
