import System

/// The commands, in the order of the help.
enum CommandTable {
  /// The commands under their headings, those that are used most first.
  static let groups = [
    CommandGroup("most used", [RunCommand(), WatchCommand(), StatusCommand()]),
    CommandGroup("jobs", [AddCommand(), WaitCommand(), CancelCommand(), RetryCommand()]),
    CommandGroup("pauses", [PauseCommand(), ResumeCommand()]),
    CommandGroup("manifests and recipes", [CheckCommand(), FiltersCommand()]),
    CommandGroup("care", [DoctorCommand(), GCCommand()]),
    CommandGroup("help", [HelpCommand()]),
  ]

  static let all = groups.flatMap(\.commands)

  /// Commands that a later version will have.
  static let unavailable: Set = ["shard"]

  /// - Throws: `UsageError` that names the nearest command, or all of them.
  static func command(named name: String) throws -> any Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    throw unavailable.contains(name)
      ? UsageError.unavailable("the command \(name)")
      : UsageError(NearestName.unknown("command", name, among: all.map(\.name)))
  }
}
