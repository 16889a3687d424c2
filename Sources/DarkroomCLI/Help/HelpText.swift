/// The help texts, made from the tables of commands and options; lines have at most 80 columns. Examples come first.
enum HelpText {
  /// The help of the program: `darkroom help`.
  static func program(_ commands: [CommandGroup]) -> String {
    let lists = commands.map { group in
      group.heading + ":\n" + group.commands.map { TextLayout.row($0.usage, $0.summary) }.joined(separator: "\n")
    }
    return """
      \(TextLayout.wrapped("darkroom: " + DarkroomPage.summary + "."))

      usage: darkroom COMMAND [OPTION…] [OPERAND…]

      examples:
      \(TextLayout.indented(DarkroomPage.examples))

      The commands; "darkroom help COMMAND" shows examples and options.

      \(lists.joined(separator: "\n\n"))

      options of all commands:
      \(rows(OptionTable.all.filter { $0.commands == nil }))
      \(informational)

      \(TextLayout.wrapped(DarkroomPage.precedence))

      exit codes:
      \(ExitCode.allCases.map { TextLayout.row(String($0.rawValue), $0.summary, width: 6) }.joined(separator: "\n"))

      \(TextLayout.wrapped(topics))
      """
  }

  /// The help of a command: `darkroom help COMMAND`.
  static func command(_ command: any Command) -> String {
    let options = OptionTable.groups.compactMap { heading, options in
      let taken = options.filter { $0.isListed(for: command.name) }
      return taken.isEmpty ? nil : heading + ":\n" + rows(taken)
    }
    let text = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ". " + command.details
    return """
      usage: darkroom \(command.name) [OPTION…]\(command.operands.isEmpty ? "" : " " + command.operands)

      examples:
      \(TextLayout.indented(command.examples))

      \(TextLayout.paragraphs(text).joined(separator: "\n\n"))

      \(options.joined(separator: "\n\n"))

      "darkroom help" lists the commands and the exit codes.
      """
  }

  private static var informational: String {
    OptionTable.informational.map { letter, name, summary in
      TextLayout.row((letter.map { "-\($0), " } ?? "") + "--" + name, summary)
    }.joined(separator: "\n")
  }

  private static let topics = """
    "darkroom help manifest" and "darkroom help report" describe the input and output files, "darkroom help events" the lines
    that run and watch print with --json, "darkroom help man" prints manual pages, and "darkroom help completion SHELL" prints a script that completes command lines in a shell.
    """

  private static func rows(_ options: [Option]) -> String {
    options.map { TextLayout.row($0.usage, $0.summary + $0.shownDefault) }.joined(separator: "\n")
  }
}
