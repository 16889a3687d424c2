import Imaging
import System

/// The commands, in the order of the help.
enum CommandTable {
  static let all: [any Command] = [
    RunCommand(),
    WatchCommand(),
    AddCommand(),
    WaitCommand(),
    CancelCommand(),
    RetryCommand(),
    CheckCommand(),
    StatusCommand(),
    PauseCommand(),
    ResumeCommand(),
    FiltersCommand(),
    HelpCommand(),
  ]

  /// Commands that a later version will have.
  static let unavailable: Set = ["doctor", "gc", "shard"]

  /// - Throws: `UsageError` that names the nearest command, or all of them.
  static func command(named name: String) throws -> any Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    throw unavailable.contains(name)
      ? UsageError.unavailable("the command \(name)")
      : UsageError(NearestName.unknown("command", name, among: all.map(\.name)))
  }
}
