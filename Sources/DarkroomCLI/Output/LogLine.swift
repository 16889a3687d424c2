/// A line of the log.
struct LogLine: Equatable {
  /// How serious a line is. The raw values are those of syslog.
  enum Level: Int {
    case error = 3
    case warning = 4
    case info = 6
    case debug = 7

    var name: String { "\(self)" }
  }

  let level: Level

  /// The verbosity from which on it is printed.
  let verbosity: Settings.Verbosity

  /// The name of its event, as in `--json`; nil for a line without one.
  var event: String?

  var job: String?

  /// The name of the entry, with its variant.
  var entry: String?

  /// The code of an entry's error.
  var code: String?

  let message: String

  /// Whether lines are wrapped between words on a terminal. Default: true.
  var wraps = true

  init(
    _ level: Level, from verbosity: Settings.Verbosity = .normal, event: String? = nil, job: String? = nil,
    entry: String? = nil, code: String? = nil, _ message: String
  ) {
    (self.level, self.verbosity, self.event, self.job, self.entry) = (level, verbosity, event, job, entry)
    (self.code, self.message) = (code, message)
  }

  /// The line for people: what it is about, then the message.
  var text: String { [job, entry, code, message].compactMap { $0 }.joined(separator: ": ") }
}
