/// What the help says, made from the tables of commands and options; no line is longer than 80 columns.
enum HelpText {
  /// Of the program as a whole: `darkroom help`.
  static var program: String {
    let examples = ["darkroom run", "darkroom watch --inbox /srv/in --outbox /srv/out --create"]
    return """
      darkroom: drop a list of picture URLs into a folder, get filtered pictures and a
      report in another.

      usage: darkroom COMMAND [OPTION…] [OPERAND…]

      commands ("darkroom help COMMAND" tells the options of one):
      \(CommandTable.all.map { row($0.usage, $0.summary) }.joined(separator: "\n"))

      options of all commands:
      \(rows(OptionTable.all.filter { $0.commands == nil }))
      \(row("-h, --help", "this text, or that of a command"))
      \(row("--version", "the version"))

      Most options are environment variables and keys of the configuration file, too:
      --per-host is DARKROOM_PER_HOST and "per-host". The command line wins over the
      environment, and the environment over the file.

      examples:
      \(lines(examples))

      exit codes:
      \(ExitCode.allCases.map { row(String($0.rawValue), $0.summary, width: 6) }.joined(separator: "\n"))
      """
  }

  /// Of one command: `darkroom help COMMAND`.
  static func command(_ command: any Command) -> String {
    let options = OptionTable.groups.compactMap { heading, options in
      let taken = options.filter { $0.belongs(to: command.name) }
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
      let usage = (option.letter.map { "-\($0), " } ?? "") + "--" + option.name + (option.value.map { " " + $0 } ?? "")
      return row(usage, option.summary + (option.defaultText.map { " (default: \($0))" } ?? ""))
    }.joined(separator: "\n")
  }

  private static func row(_ left: String, _ right: String, width: Int = 28) -> String {
    let indent = "".padding(to: width + 2)
    let head = left.count < width ? "  " + left.padding(to: width) : "  " + left + "\n" + indent
    return head + wrapped(right, columns: 80 - width - 2, indent: indent)
  }

  /// Breaks a text between its words, so that no line has more than so many columns.
  private static func wrapped(_ text: String, columns: Int = 80, indent: String = "") -> String {
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

extension String {
  /// The text with spaces at its end up to a width.
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
