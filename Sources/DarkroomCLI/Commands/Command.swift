/// A command of the program. To add one: add a file, and a line in `CommandTable.all`.
protocol Command: Sendable {
  var name: String { get }

  /// What follows the name, e.g. `[MANIFEST…]`; empty when nothing does.
  var operands: String { get }

  /// What the command does, in a line.
  var summary: String { get }

  /// What the help says besides, in sentences; line breaks count as spaces. Default: nothing.
  var details: String { get }

  /// Lines for a shell, for the help.
  var examples: [String] { get }

  /// Carries the command out.
  /// - Throws: `UsageError`, `StopError` and what else ends the program; `main` makes an exit code of it.
  func run(_ invocation: Invocation) throws -> ExitCode
}

extension Command {
  var details: String { "" }

  /// The command with its operands, for the help.
  var usage: String { operands.isEmpty ? name : name + " " + operands }
}
