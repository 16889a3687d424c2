import Darkroom
import Foundation
import System

/// A status for a person at a terminal: a table of the jobs, and the rest below it. Each line fits the width.
struct StatusTable {
  let status: Status
  /// In columns.
  let width: Int
  /// The current time.
  let now: Date
  var timeZone = TimeZone.current

  private struct Row {
    let name: String
    let state: StyledText
    var done = ""
    var failed = 0
    var rate = ""
    var left = ""
    var note = ""
  }

  private enum Column: Int, CaseIterable {
    case name, state, done, failed, rate, left, note

    var title: String {
      switch self {
      case .name: "JOB"
      case .state: "STATE"
      case .done: "DONE"
      case .failed: "FAILED"
      case .rate: "RATE"
      case .left: "LEFT"
      case .note: ""
      }
    }

    var isNumber: Bool { [.done, .failed, .rate, .left].contains(self) }
  }

  var lines: [StyledText] {
    var lines = status.heading.enumerated().map { StyledText($1.visible, $0 == 0 ? .bold : .plain) }
    if status.process == nil, !status.jobs.isEmpty || !status.queued.isEmpty {
      lines[1] = lines[1] + "; start \"darkroom run\" or \"darkroom watch\""
    }
    let rows = rows
    if !rows.isEmpty { lines += [StyledText()] + table(rows) }
    let more = (status.queued_total - status.queued.count, (status.finished_total ?? 0) - (status.finished ?? []).count)
    if more.0 > 0 { lines.append(StyledText("\(more.0) more queued", .dim)) }
    if more.1 > 0 { lines.append(StyledText("\(more.1) more have ended, see --all", .dim)) }
    var rest = status.waitLines.map { StyledText($0.visible, .bad) }
    rest += status.unknownLines.map { StyledText($0.visible, .bad) }
    rest += status.pauseLines(shown).map { StyledText($0.visible, .attention) }
    rest += (status.queueLines + status.hostLines + status.noticeLines + status.waitsForDeferred).map {
      StyledText(local($0).visible)
    }
    rest += status.ignoredLines.map { StyledText($0.visible, .dim) }
    if status.isIdle { rest.append(StyledText("nothing to do")) }
    if !rest.isEmpty { lines += [StyledText()] + rest }
    return lines.map { $0.cut(toColumns: width) }
  }

  // MARK: Rows

  private var rows: [Row] {
    let isRunning = status.process != nil
    let live = status.jobs.filter { $0.state != "waiting" }
    let waiting = status.jobs.filter { $0.state == "waiting" }
    let notes = status.queuedNotes
    return (live + waiting).map { row($0, isRunning) }
      + status.queued.map { file in
        Row(
          name: file.visible, state: StyledText("queued"),
          note: String((notes[ByteKey(file)] ?? "").trimmingPrefix(", ")))
      }
      + (status.finished ?? []).map(row)
  }

  private func row(_ job: Status.Job, _ isRunning: Bool) -> Row {
    let ended = job.ended ?? 0
    var notes: [String] = []
    if let count = job.retrying, count > 0 { notes.append("\(count) to be retried") }
    if let count = job.waiting_for_others { notes.append("\(count) waiting for others") }
    if let count = job.deferred {
      notes.append("\(count) deferred" + (job.deferred_until.map { " until " + shown($0) } ?? ""))
    }
    if !isRunning {
      notes.append(job.state == "cancelling" ? "ends with the next start" : "goes on with the next start")
    }
    let style: StyledText.Style = ["running", "finishing"].contains(job.state) && isRunning ? .good : .plain
    return Row(
      name: job.job.visible, state: StyledText(job.state.visible, style),
      done: job.total.map { "\(ended)/\($0)" } ?? (ended > 0 ? "\(ended)" : ""), failed: job.failed ?? 0,
      rate: job.rate?.rateText ?? "", left: job.seconds_left?.clockText ?? "", note: notes.joined(separator: ", "))
  }

  private func row(_ job: Status.Finished) -> Row {
    let style: StyledText.Style =
      switch job.state {
      case "succeeded": .good
      case "failed", "rejected": .bad
      default: .attention
      }
    let counts = job.state == "rejected" ? nil : job.total.map { "\(job.filtered ?? 0)/\($0)" }
    let cancelled = job.cancelled.flatMap { $0 > 0 ? "\($0) cancelled, " : nil } ?? ""
    return Row(
      name: job.job.visible, state: StyledText(job.state.visible, style), done: counts ?? "", failed: job.failed ?? 0,
      note: cancelled + (job.finished_at.map { "ended " + shown($0) } ?? ""))
  }

  private func cell(_ row: Row, _ column: Column) -> StyledText {
    switch column {
    case .name: StyledText(row.name)
    case .state: row.state
    case .done: StyledText(row.done)
    case .failed: StyledText(row.failed > 0 ? "\(row.failed)" : "", .bad)
    case .rate: StyledText(row.rate)
    case .left: StyledText(row.left)
    case .note: StyledText(row.note, .dim)
    }
  }

  // MARK: Columns

  private func table(_ rows: [Row]) -> [StyledText] {
    let cells = rows.map { row in Column.allCases.map { cell(row, $0) } }
    var widths = Column.allCases.map { column in
      let content = cells.map { $0[column.rawValue].columns }.max() ?? 0
      return content == 0 ? 0 : max(content, column.title.columns)
    }
    let longest = widths[Column.name.rawValue]
    widths[Column.name.rawValue] = min(longest, max(12, width / 3))
    // The least informative column goes first.
    for column in [Column.rate, .left, .failed, .state] where Self.sum(widths.dropLast()) > width {
      widths[column.rawValue] = 0
    }
    let room = width - Self.sum(widths.dropLast()) - 2
    if room < 8 { widths[Column.note.rawValue] = 0 }
    // A long name gets the space that nothing else needs.
    let spare = room - widths[Column.note.rawValue]
    if spare > 0 { widths[Column.name.rawValue] = min(longest, widths[Column.name.rawValue] + spare) }
    let titles = Column.allCases.map { StyledText($0.title, .dim) }
    return ([titles] + cells).map { Self.line($0, widths) }
  }

  private static func sum(_ widths: some Collection<Int>) -> Int {
    let used = widths.filter { $0 > 0 }
    return used.reduce(0, +) + 2 * max(0, used.count - 1)
  }

  private static func line(_ cells: [StyledText], _ widths: [Int]) -> StyledText {
    let shown = Column.allCases.filter { widths[$0.rawValue] > 0 }
    let last = shown.last { cells[$0.rawValue].columns > 0 }
    var line = StyledText()
    for column in shown where column.rawValue <= last?.rawValue ?? 0 {
      let cell = cells[column.rawValue].cut(toColumns: column == .note ? .max : widths[column.rawValue])
      let spaces = StyledText(String(repeating: " ", count: max(0, widths[column.rawValue] - cell.columns)))
      line = line + (column == .name ? "" : "  ")
      line = column.isNumber ? line + spaces + cell : column == last ? line + cell : line + cell + spaces
    }
    return line
  }

  // MARK: Times

  private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// A time of the status in the local time zone, with the date if it is not today.
  private func shown(_ time: String) -> String {
    guard let date = try? Date(time, strategy: Self.format) else { return time.visible }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let day = date.formatted(Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day())
    let clock = date.formatted(Date.ISO8601FormatStyle(timeZone: timeZone).time(includingFractionalSeconds: false))
    return calendar.isDate(date, inSameDayAs: now) ? clock : day + " " + String(clock.prefix(5))
  }

  /// A line with its times in the local time zone.
  private func local(_ line: String) -> String {
    line.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/) { shown(String($0.output)) }
  }
}
