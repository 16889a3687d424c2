/// Prints how the program, or one of its commands, is used.
struct HelpCommand: Command {
  let name = "help"
  let operands = "[COMMAND]"
  let summary = "this text, or that of a command"

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard let name = invocation.operands.first else {
      print(HelpText.program)
      return .success
    }
    guard let command = CommandTable.all.first(where: { $0.name == name }) else {
      throw UnknownCommand.error(name)
    }
    print(HelpText.command(command))
    return .success
  }
}
