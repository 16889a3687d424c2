/// The commands that there are, in the order of the help.
enum CommandTable {
  static let all: [any Command] = [
    RunCommand(),
    WatchCommand(),
    AddCommand(),
    WaitCommand(),
    CheckCommand(),
    StatusCommand(),
    PauseCommand(),
    ResumeCommand(),
    FiltersCommand(),
    HelpCommand(),
  ]

  /// Commands that are promised and that this version does not have.
  static let later: Set = ["cancel", "retry"]
}
