import System

/// Prints the help of the program or of a command, and the files that packages install beside it.
struct HelpCommand: Command {
  let name = "help"
  let operands = "[COMMAND|TOPIC]"
  let summary = "print this help, the help of a command, or a topic"
  let details = """
    The topics manifest and report describe the input and output files, events the lines that run and watch print with --json.
    man PAGE prints a page of the manual in mdoc, the language of man: darkroom (the default), darkroom-events,
    darkroom-manifest or darkroom-report. "darkroom help man | man -l -" shows it.
    completion SHELL prints a script that completes command lines in bash, zsh or fish.

    All are made from the definitions that the program works with. Packages install them; by hand, save the script for bash
    in ~/.local/share/bash-completion/completions, the one for zsh as _darkroom in a folder of fpath, and the one for fish as
    darkroom.fish in ~/.config/fish/completions.
    """
  let examples = [
    "darkroom help",
    "darkroom help run",
    "darkroom help man darkroom-report > darkroom-report.5",
    "darkroom help completion bash > darkroom",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let operands = invocation.operands
    guard let name = operands.first else {
      try invocation.output.print(HelpText.program(invocation.commands))
      return .success
    }
    let commands = invocation.commands.flatMap(\.commands)
    if let topic = HelpTopic(rawValue: name) {
      if operands.count > (topic.operands.isEmpty ? 1 : 2) {
        throw UsageError("unexpected operand \"\(operands[operands.count - 1])\" of help \(name)")
      }
      try print(topic, operands.dropFirst().first, invocation)
    } else {
      guard operands.count == 1 else { throw UsageError("help takes one command, not \(operands.count)") }
      guard let command = commands.first(where: { $0.name == name }) else {
        let known = commands.map(\.name) + HelpTopic.allCases.map(\.rawValue)
        throw UsageError(NearestName.unknown("command or topic", name, among: known))
      }
      try invocation.output.print(HelpText.command(command))
    }
    return .success
  }

  private func print(_ topic: HelpTopic, _ operand: String?, _ invocation: Invocation) throws {
    switch topic {
    case .manifest: try invocation.output.print(ManifestPage.page.text)
    case .report: try invocation.output.print(ReportPage.page.text)
    case .events: try invocation.output.print(EventsPage.page.text)
    case .man:
      let name = operand ?? Manual.names[0]
      guard let page = Manual.pages(invocation.commands).first(where: { [$0.name, $0.file].contains(name) }) else {
        throw UsageError(NearestName.unknown("page", name, among: Manual.names))
      }
      try invocation.output.print(page.mdoc)
    case .completion:
      guard let operand else {
        throw UsageError("help completion needs a shell: " + topic.operands.joined(separator: ", "))
      }
      guard let shell = Shell(rawValue: operand) else {
        throw UsageError(NearestName.unknown("shell", operand, among: topic.operands))
      }
      try invocation.output.print(shell.script)
    }
  }
}

/// The topics of `darkroom help` besides commands.
enum HelpTopic: String, CaseIterable {
  /// The text of `darkroom-manifest(5)`.
  case manifest
  /// The text of `darkroom-report(5)`.
  case report
  /// The text of `darkroom-events(5)`.
  case events
  /// Pages of the manual, for `man`.
  case man
  /// Scripts that complete command lines.
  case completion

  /// The operands of the topic, for completion.
  var operands: [String] {
    switch self {
    case .manifest, .report, .events: []
    case .man: Manual.names
    case .completion: Shell.allCases.map(\.rawValue)
    }
  }
}
