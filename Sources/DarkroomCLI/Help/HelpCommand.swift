import System

/// Prints how the program, or one of its commands, is used; and what packages install beside it.
struct HelpCommand: Command {
  let name = "help"
  let operands = "[COMMAND|TOPIC]"
  let summary = "print this help, that of a command, or a topic"
  let details = """
    The topics: manifest and report describe the files that go in and come out. man PAGE prints a page of the manual in the
    language of man (mdoc): darkroom, darkroom-manifest or darkroom-report; darkroom without a PAGE. "darkroom help man | man -l
    -" shows it. completion SHELL prints a script that completes command lines in bash, zsh or fish.

    All are made from the definitions that the program works with. Packages install them; by hand, the script for bash
    belongs in ~/.local/share/bash-completion/completions, that for zsh as _darkroom in a folder of fpath, and that for fish as
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
        throw UsageError("\"\(operands[operands.count - 1])\" is too much for help \(name)")
      }
      try print(topic, operands.dropFirst().first, invocation)
    } else {
      guard operands.count == 1 else {
        throw UsageError("help is about one command, not \(operands.count)")
      }
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

/// What `darkroom help` is about besides commands.
enum HelpTopic: String, CaseIterable {
  /// The text of `darkroom-manifest(5)`.
  case manifest
  /// The text of `darkroom-report(5)`.
  case report
  /// Pages of the manual, for `man`.
  case man
  /// Scripts that complete command lines.
  case completion

  /// What may follow the topic, for shells that complete it.
  var operands: [String] {
    switch self {
    case .manifest, .report: []
    case .man: Manual.names
    case .completion: Shell.allCases.map(\.rawValue)
    }
  }
}
