import Foundation
import JSON
import System

/// The form of the log's lines.
enum LogFormat: String, CaseIterable, Sendable {
  /// For people.
  case text
  /// `key=value` pairs.
  case logfmt
  /// One JSON object per line.
  case json

  /// Whether a command has a log, and so takes its lines' form also from the environment and the configuration file.
  static func isUsed(by command: String?, _ operands: some Collection<String>) -> Bool {
    switch command {
    case "run", "watch", "doctor": true
    case "shard": operands.first == "run"
    default: false
    }
  }

  /// The format that the command line or the environment names, for errors in either: the settings are not known then.
  /// - Returns: nil without one, and for commands that have no log.
  static func requested(by words: [String], _ environment: [String: String]) -> LogFormat? {
    let operands = Arguments.operands(in: words)
    guard isUsed(by: operands.first, operands.dropFirst()) else { return nil }
    let option = "--log-format"
    let given = words.prefix { $0 != "--" }.enumerated().compactMap { index, word in
      word == option
        ? words.dropFirst(index + 1).first
        : word.begins(with: option + "=") ? word.dropping(bytesOf: option + "=") : nil
    }
    return (given.last ?? environment["DARKROOM_LOG_FORMAT"]).flatMap(LogFormat.init)
  }

  /// A line of the log without the line break. Text has no time.
  fileprivate func line(_ line: LogLine, at time: Date) -> String {
    switch self {
    case .text: line.text.visible
    case .logfmt: Self.members(line, at: time).map { "\($0)=\(Self.logfmtValue($1))" }.joined(separator: " ")
    case .json: JSONValue.object(Self.members(line, at: time).map { .init($0, .string($1)) }).text
    }
  }

  private static func members(_ line: LogLine, at time: Date) -> [(String, String)] {
    let time = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    let members: [(String, String?)] = [
      ("time", time), ("level", line.level.name), ("event", line.event), ("job", line.job), ("entry", line.entry),
      ("code", line.code), ("message", line.message),
    ]
    return members.compactMap { name, value in value.map { (name, $0) } }
  }

  /// A value, in quotes if it contains anything but letters, digits and common punctuation.
  private static func logfmtValue(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\"") }
    return isPlain ? text : JSONValue.string(text).text
  }
}

/// How lines of the log are written to standard error: on a terminal wrapped, for systemd's journal with their
/// priority, elsewhere with the time.
struct LogForm {
  let format: LogFormat

  private let terminal: Terminal
  private let isJournal: Bool

  init(_ format: LogFormat, on terminal: Terminal) {
    (self.format, self.terminal, isJournal) = (format, terminal, Self.isJournal(terminal))
  }

  /// Whether lines are text without a priority.
  var isPlain: Bool { format == .text && !isJournal }

  /// A line of the log, with its line break.
  func text(of line: LogLine) -> String {
    let now = Date()
    var text = format.line(line, at: now)
    if isJournal { return "<\(line.level.rawValue)>\(text)\n" }
    if format == .text, !terminal.isTerminal { text = now.formatted(.iso8601) + " " + text }
    if format == .text, terminal.isTerminal, line.wraps {
      text = TextLayout.folded(text, columns: terminal.size.columns)
    }
    return text + "\n"
  }

  /// A message of the program itself, with its line break: text begins with the program's name.
  func text(ofProgram line: LogLine) -> String {
    guard format == .text else { return text(of: line) }
    return (isJournal ? "<\(line.level.rawValue)>" : "darkroom: ") + line.message.visible + "\n"
  }

  /// Whether a descriptor is a stream of systemd's journal, which takes the priority from the beginning of each line
  /// and adds the time.
  private static func isJournal(_ terminal: Terminal) -> Bool {
    guard let stream = terminal.journalStream else { return false }
    var status = stat()
    guard fstat(terminal.descriptor, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }
}
