/// Prints how the program, or one of its commands, is used.
struct HelpCommand: Command {
  let name = "help"
  let operands = "[COMMAND]"
  let summary = "print this help, or that of a command"
  let examples = [
    "darkroom help",
    "darkroom help run",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.count <= 1 else {
      throw UsageError("help is about one command, not \(invocation.operands.count)")
    }
    guard let name = invocation.operands.first else {
      try invocation.output.print(HelpText.program)
      return .success
    }
    let command = try CommandTable.command(named: name)
    try invocation.output.print(HelpText.command(command))
    return .success
  }
}
