import Imaging

/// A command that there is not.
enum UnknownCommand {
  static func error(_ name: String) -> UsageError {
    CommandTable.later.contains(name)
      ? UsageError("the command \(name) is not available in this version")
      : UsageError(NearestName.unknown("command", name, among: CommandTable.all.map(\.name)))
  }
}
