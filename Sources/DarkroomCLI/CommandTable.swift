import Manifests
import System

/// The commands, in the order of the help.
enum CommandTable {
  /// The commands under their headings, those that are used most first.
  static let groups = [
    CommandGroup("most used", [RunCommand(), WatchCommand(), StatusCommand()]),
    CommandGroup("jobs", [AddCommand(), WaitCommand(), CancelCommand(), RetryCommand()]),
    CommandGroup("pauses", [PauseCommand(), ResumeCommand()]),
    CommandGroup("manifests and recipes", [CheckCommand(), FiltersCommand()]),
    CommandGroup("several machines", [ShardCommand()]),
    CommandGroup("care", [DoctorCommand(), GCCommand()]),
    CommandGroup("help", [HelpCommand()]),
  ]

  static let all = groups.flatMap(\.commands)

  /// - Throws: `UsageError` that names the nearest command, the one for a manifest or a URL, or all of them.
  static func command(named name: String) throws -> any Command {
    if let command = all.first(where: { $0.name == name }) { return command }
    if OptionTable.option(named: name) != nil || name == "version" {
      throw UsageError("unknown command \"\(name)\"; did you mean \"--\(name)\"?")
    }
    // The command was left out. A URL may have a password.
    if name.contains("://") { throw UsageError("a URL is not a command; did you mean \"add URL\"?") }
    if ManifestFileName(Folder.name(of: name)) != nil {
      throw UsageError("unknown command \"\(name)\"; did you mean: run \(name.shellQuoted)")
    }
    throw UsageError(NearestName.unknown("command", name, among: all.map(\.name)))
  }
}
