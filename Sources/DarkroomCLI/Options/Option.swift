/// An option of the command line. Most are environment variables and keys of the configuration file as well. To add one:
/// add it to a group of `OptionTable`; the help and `Documentation/options.md` follow from it.
struct Option: Sendable {
  /// Without the dashes.
  let name: String

  let letter: Character?

  /// The commands that take it; nil for all. Others reject it on the command line; the environment variable and the key apply
  /// to every command.
  let commands: [String]?

  /// Whether it concerns a single call, and so is neither an environment variable nor a key.
  let isForOneCall: Bool

  /// The value's name in the help; nil for a flag.
  let valueName: String?

  /// Whether it may be repeated, and all values count.
  let isRepeatable: Bool

  /// The default; nil when there is none.
  let defaultValue: Default?

  /// The meaning and the allowed values of the option, in a line.
  let summary: String

  /// Sets the value in the settings.
  /// - Throws: `UsageError` with a message that continues the option's name and says what a value must be.
  let apply: @Sendable (inout Settings, String) throws -> Void

  enum Default: Equatable, Sendable {
    /// A value, in the option's syntax.
    case value(String)
    /// A meaning in words, for a default that is not a value.
    case words(String)
  }

  /// - Parameters:
  ///   - setting: The setting that it sets. The default is the one of `Settings`, printed by `value`.
  ///   - words: The default in words, when it is not a value.
  init<Value>(
    _ name: String, _ setting: WritableKeyPath<Settings, Value> & Sendable, _ value: OptionValue<Value>,
    letter: Character? = nil, of commands: [String]? = ["run", "watch"], isForOneCall: Bool = false,
    default words: String? = nil, _ summary: String
  ) {
    self.name = name
    self.letter = letter
    self.commands = commands
    self.isForOneCall = isForOneCall
    valueName = value.name
    isRepeatable = value.isRepeatable
    defaultValue =
      words.map(Default.words) ?? value.text(Settings.defaults[keyPath: setting]).map(Default.value)
    self.summary = summary + (value.limits.map { "; " + $0 } ?? "")
    apply = { settings, text in
      let new = try value.parseBeside.map { try $0(text, settings) } ?? value.parse(text)
      settings[keyPath: setting] = value.combined(settings[keyPath: setting], new)
    }
  }

  /// An option for a setting without a default value.
  init<Value>(
    _ name: String, _ setting: WritableKeyPath<Settings, Value?> & Sendable, _ value: OptionValue<Value>,
    of commands: [String]? = ["run", "watch"], isForOneCall: Bool = false, default words: String? = nil,
    _ summary: String
  ) {
    self.init(
      name, setting, value.optional, of: commands, isForOneCall: isForOneCall, default: words, summary)
  }

  /// The option with its letter and value, for the help.
  var usage: String { (letter.map { "-\($0), " } ?? "") + "--" + name + (valueName.map { " " + $0 } ?? "") }

  /// The default in brackets, to append to the summary; empty without one.
  var shownDefault: String {
    switch defaultValue {
    case .value(let text), .words(let text): " (default: \(text))"
    case nil: ""
    }
  }

  /// Whether its value is the path of a file or folder.
  var isPath: Bool { ["DIR", "FILE", "PROGRAM"].contains(valueName) }

  /// The option as given on the command line.
  var longName: String { "--" + name }

  /// Whether a command takes it. `doctor` takes the options of `watch` and `check` those of `run`, so that a command line can be
  /// checked as it is. `shard run` takes those of `run`.
  func isTaken(by command: String) -> Bool {
    let checked = ["doctor": "watch", "check": "run", "shard": "run"][command]
    return isUsed(by: command) || !isForOneCall && checked.map(isUsed) ?? false
  }

  /// Whether it makes a difference to a command.
  private func isUsed(by command: String) -> Bool { commands?.contains(command) ?? true }

  /// Whether help and completion list it for a command. `check` takes many that make no difference to it, and the help of `run`
  /// lists those of `shard run`.
  func isListed(for command: String) -> Bool {
    ["check", "shard"].contains(command) ? isUsed(by: command) : isTaken(by: command)
  }

  /// The name of its environment variable.
  var variable: String { "DARKROOM_" + name.uppercased().replacing("-", with: "_") }
}
