import Imaging

/// What completions know of the command line, made from the tables of commands and options.
struct CompletionTable {
  /// A command, with the options that it takes and those of all commands.
  struct Command {
    let name: String
    let summary: String
    /// nil when it takes no operands.
    let operand: WordSyntax?
    let options: [Option]
  }

  struct Option {
    let name: String
    let letter: Character?
    let summary: String
    /// What the help calls the value; nil for a flag.
    let valueName: String?
    let value: WordSyntax?
    let isRepeatable: Bool

    /// With the dashes, the short one first.
    var words: [String] { (letter.map { ["-\($0)"] } ?? []) + ["--" + name] }

    fileprivate init(_ option: DarkroomCLI.Option) {
      name = option.name
      letter = option.letter
      summary = option.summary
      valueName = option.valueName
      value = option.valueName.map { WordSyntax(usage: $0, isValue: true) }
      isRepeatable = option.isRepeatable
    }

    fileprivate init(_ option: (letter: Character?, name: String, summary: String)) {
      (letter, name, summary) = option
      (valueName, value, isRepeatable) = (nil, nil, false)
    }
  }

  let commands: [Command]

  /// The options that may stand before a command.
  let commonOptions: [Option]

  /// What `help` is about besides commands, and what may follow.
  let topics: [(name: String, operands: [String])]

  /// The names of filter functions.
  let filters = FilterRegistry.all.map { $0.name }

  init(commands groups: [CommandGroup], topics: [(name: String, operands: [String])]) {
    let informational = OptionTable.informational.map(Option.init)
    commonOptions = OptionTable.all.filter { $0.commands == nil }.map(Option.init) + informational
    commands = groups.flatMap(\.commands).map { command in
      Command(
        name: command.name, summary: command.summary,
        operand: command.operands.isEmpty ? nil : WordSyntax(usage: command.operands),
        options: OptionTable.all.filter { $0.isTaken(by: command.name) }.map(Option.init) + informational)
    }
    self.topics = topics
  }

  /// Every option once, by its name; of several of one name that whose value can be completed.
  var distinctOptions: [Option] {
    var options: [Option] = []
    for option in commands.flatMap(\.options) {
      if let place = options.firstIndex(where: { $0.name == option.name }) {
        if options[place].value?.isEmpty ?? true { options[place] = option }
      } else {
        options.append(option)
      }
    }
    return options
  }

  /// The options that have a value, with the dashes.
  var valuedOptions: [String] { distinctOptions.filter { $0.valueName != nil }.map { "--" + $0.name } }

  /// The options that name the folders in which jobs and locks are looked up.
  static let folderOptions = ["--config", "--inbox", "--outbox", "--state"]
}

extension WordSyntax {
  /// Whether nothing can be completed.
  var isEmpty: Bool { choices.isEmpty && kind == nil }
}
