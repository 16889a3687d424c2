import Imaging

/// The commands that there are, in the order of the help.
enum CommandTable {
  static let all: [any Command] = [
    RunCommand(),
    WatchCommand(),
    AddCommand(),
    WaitCommand(),
    RetryCommand(),
    CheckCommand(),
    StatusCommand(),
    PauseCommand(),
    ResumeCommand(),
    FiltersCommand(),
    HelpCommand(),
  ]

  /// Commands that are promised and that this version does not have.
  static let later: Set = ["cancel"]

  /// - Throws: `UsageError` with the nearest command, or all of them.
  static func command(named name: String) throws -> any Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    throw later.contains(name)
      ? UsageError("the command \(name) is not available in this version")
      : UsageError(NearestName.unknown("command", name, among: all.map(\.name)))
  }
}
