/// The texts of the help, made from the tables of commands and options; no line is longer than 80 columns.
enum HelpText {
  /// The help of the program: `darkroom help`.
  static var program: String {
    let examples = ["darkroom run", "darkroom watch --inbox /srv/in --outbox /srv/out --create"]
    return """
      darkroom: drop a list of picture URLs into a folder, get filtered pictures and a
      report in another.

      usage: darkroom COMMAND [OPTION…] [OPERAND…]

      commands ("darkroom help COMMAND" lists the options of one):
      \(CommandTable.all.map { row($0.usage, $0.summary) }.joined(separator: "\n"))

      options of all commands:
      \(rows(OptionTable.all.filter { $0.commands == nil }))
      \(row("-h, --help", "print this help, or that of a command"))
      \(row("--version", "print the version"))

      Most options are environment variables and keys of the configuration file, too:
      --per-host is DARKROOM_PER_HOST and "per-host". The command line overrides the
      environment, and the environment the file.

      examples:
      \(lines(examples))

      exit codes:
      \(ExitCode.allCases.map { row(String($0.rawValue), $0.summary, width: 6) }.joined(separator: "\n"))
      """
  }

  /// The help of a command: `darkroom help COMMAND`.
  static func command(_ command: any Command) -> String {
    let options = OptionTable.groups.compactMap { heading, options in
      let taken = options.filter { $0.isTaken(by: command.name) }
      return taken.isEmpty ? nil : heading + ":\n" + rows(taken)
    }
    return """
      usage: darkroom \(command.name) [OPTION…]\(command.operands.isEmpty ? "" : " " + command.operands)

      \(wrapped(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ". " + command.details))

      \((options + ["examples:\n" + lines(command.examples)]).joined(separator: "\n\n"))

      "darkroom help" lists the commands and the exit codes.
      """
  }

  private static func lines(_ examples: [String]) -> String { examples.map { "  " + $0 }.joined(separator: "\n") }

  private static func rows(_ options: [Option]) -> String {
    options.map { option in
      let standard =
        switch option.defaultValue {
        case .value(let text), .words(let text): " (default: \(text))"
        case nil: ""
        }
      return row(option.usage, option.summary + standard)
    }.joined(separator: "\n")
  }

  private static func row(_ left: String, _ right: String, width: Int = 28) -> String {
    let indent = "".padding(to: width + 2)
    let head = left.count < width ? "  " + left.padding(to: width) : "  " + left + "\n" + indent
    return head + wrapped(right, columns: 80 - width - 2, indent: indent)
  }

  /// Wraps a text at spaces to a number of columns.
  static func wrapped(_ text: String, columns: Int = 80, indent: String = "") -> String {
    var lines: [String] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      if let line = lines.last, line.count + 1 + word.count <= columns {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n" + indent)
  }
}
